"""Two hundred strings that somebody plants where a page, a script or a spreadsheet shows text.

Belongs here: the strings. Does not: what happens to them.
"""

MARKUP = (
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    '"><svg onload=window.pwned=1>',
    "'><b>bold</b>",
    "</td></tr></table><h1>out</h1>",
    "</textarea><script>window.pwned=1</script>",
    "<!-- comment",
    "]]><script>window.pwned=1</script>",
    "<style>*{display:none}</style>",
    "<a href=javascript:window.pwned=1>x</a>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<base href=//evil.example>",
    "<form action=//evil.example><button>x",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "&lt;script&gt;&amp;&#60;b&#62;",
    "&amp",
    "{{ 7 * 7 }}",
    "{% raw %}{{ x }}",
    "${7*7} #{7*7} <%= 7*7 %>",
    "{0} {x!r} %s %(x)s %n",
)
SIGNS = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "'; DROP TABLE rag_quality; --",
    "\\\" \\' \\u003cscript\\u003e",
    "\u202etxt.exe",
    "\u2066\u2067\u2068\u2069",
    "\u200e\u200f\ufeff",
    "a\u0301\u0302\u0303" * 30,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 20,
    "\U0001f1ee\U0001f1e9" * 50,
    "x" * 400,
    "\u00ad" * 100,
    "line\nbreak\r\nand\ttab",
    "\x01\x02\x1b[31mred",
    "../../etc/passwd",
    "https://evil.example/?a=1&b=2#c",
    "data:text/html,<script>window.pwned=1</script>",
)
HOSTILE = tuple(
    f"{sign}{' ' * (number // 40)}{number if number >= 40 else ''}" for number, sign in enumerate((MARKUP + SIGNS) * 5)
)
