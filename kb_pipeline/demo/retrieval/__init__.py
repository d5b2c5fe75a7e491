"""The retrieval street's demo: desks with planted faults, two engines, a model, experts, and the truth about all of it.

Belongs here: simulating what an application with expert review leaves behind, and scoring what the street makes of it.
Does not: the street itself; audited calls, which are kb_pipeline/demo/traffic.
"""
