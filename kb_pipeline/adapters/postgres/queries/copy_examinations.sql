COPY stage_examination FROM STDIN (FORMAT BINARY)
