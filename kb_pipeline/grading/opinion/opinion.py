"""The second opinion on a turn: what its answer claims, kind by kind, against what its context says.

Belongs here: which claims are looked for, the formula, the figures it was calibrated with. Does not: reading, I/O.
"""

from collections.abc import Iterable, Mapping, Sequence

from kb_pipeline.grading.opinion.calendar import calendar, date_places, day_doubt, is_year
from kb_pipeline.grading.opinion.naming import name_doubt, names
from kb_pipeline.grading.opinion.quantities import Known, quantities
from kb_pipeline.grading.opinion.quoting import citations, cited_in, quote_doubt, quotes
from kb_pipeline.grading.opinion.reading import Evidence, Sentence, folded, normal, read
from kb_pipeline.grading.opinion.record import Count, Kind, Opinion
from kb_pipeline.grading.opinion.references import located, reference_doubt, references
from kb_pipeline.grading.opinion.statements import Statement
from kb_pipeline.grading.metrics import asserts_nothing
from kb_pipeline.records import Metrics, Triad
from kb_pipeline.support.style import asserts
from kb_pipeline.support import word_overlap

VERSION = "s1"

def raw(triad: Triad) -> dict[str, list]:
    answer = normal(triad.answer)
    context = normal("\n\n".join(p.text for p in triad.passages) if triad.passages else triad.context)
    ev = Evidence.of(context, normal(triad.question))
    sents = [s for s in read(answer)]
    new = [s for s in sents if s.key not in ev.keys]
    out: dict[str, list] = {k.value: [] for k in Kind}
    low = folded(answer)
    # refs
    refs = list(located(low))
    if refs:
        known = references(ev.context_folded) + references(ev.question_folded)
        plain = {t for t in ev.known if t[0].isdigit()}
        out["reference"] = [reference_doubt(r, known, plain) for r, _ in refs]
    tokens = [t for s in sents for t in s.tokens]
    taken = date_places(tokens)
    refnums = set()
    for i, t in enumerate(tokens):
        if t[0].isdigit() and i and tokens[i-1] in REFW: refnums.add(i)
    years = {i for i, t in enumerate(tokens) if t[0].isdigit() and is_year(t) and i not in taken}
    ctx_numbers = None
    cal = calendar(low)
    if cal.days or years or cal.months or cal.weekdays:
        kc = calendar(ev.context_folded); kq = calendar(ev.question_folded)
        nums = {int(t) for t in ev.known if t.isdigit() and len(t) < 5} | {int(p) for t in ev.known if t[0].isdigit() and ('/' in t or '-' in t) for p in __import__('re').findall(r'\d+', t) if len(p)<5}
        ystr = {t[:4] for t in ev.known if t[0].isdigit()} | {p for t in ev.known if t[0].isdigit() for p in __import__('re').findall(r'\d{4}', t)} | {t[:4] for s in ev.asked for t in s.tokens if t[0].isdigit()}
        out["date"] = [day_doubt(d, kc.days + kq.days, nums) for d in cal.days]
        out["date"] += [0.0 if tokens[i][:4] in ystr else 0.9 for i in years]
        kmonths = kc.months | kq.months | {d[1] for days in kc.days + kq.days for d in days}
        out["date"] += [0.0 if m in kmonths else 0.8 for m in cal.months]
        out["date"] += [0.0 if w in kc.weekdays | kq.weekdays else 0.7 for w in cal.weekdays]
    qs = quantities(tokens, taken=taken | refnums | years)
    if qs:
        known = Known(quantities(ev.tokens), quantities([t for s in ev.asked for t in s.tokens]))
        for q in qs:
            out["amount" if q.is_money else "number"].append(known.doubt(q, tokens))
    for s in new:
        out["name"] += [name_doubt(n, ev) for n in names(s)]
        st = Statement(s, ev)
        out["sentence"].append((st.foreign if asserts(" ".join(s.written)) else 0, len(st.words), st.closeness))
        out["negation"].append(st.negation_doubt())
        out["roles"].append(st.roles_doubt())
    for q in quotes(answer): out["quote"].append(quote_doubt(q, ev))
    return out
REFW = set("passage passages dokumen document documents source sumber pasal article section art nomor no number ayat § sec paragraph bab chapter".split())
def second_opinion(triad, metrics): ...
