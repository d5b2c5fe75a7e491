"""Words that lead from one sentence to the next, Indonesian and English: what they come and go with is style.

Belongs here: that list. Does not: manners, function words.
"""

LEADING = frozenset(
    "selain selanjutnya berikutnya kemudian lalu namun tetapi jadi demikian akhirnya terakhir sehingga sedangkan "
    "sementara meskipun walaupun misalnya contohnya pertama kedua ketiga catatan silakan silahkan mohon tolong "
    "however furthermore moreover additionally addition likewise therefore thus hence consequently finally first "
    "firstly second secondly third thirdly last lastly next meanwhile although though while overall ultimately "
    "please kindly note".split()
)
