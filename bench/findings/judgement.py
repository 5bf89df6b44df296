"""What a judgement rests on, held against the evidence: a page whose numbers were renewed cannot keep a judgement that they no longer bear."""

from .problem import Problem

KEYS = ["evidence", "comparison", "currency", "above", "below"]


def hold(claim, shelf):
    """Fails unless every [[rests_on]] of the claim is so."""
    for rest in claim["rests_on"]:
        unknown = [key for key in rest if key not in KEYS]
        if unknown:
            raise Problem(f'{claim["file"]}: unknown key "{unknown[0]}" in [[rests_on]]; there are: {", ".join(KEYS)}')
        missing = [key for key in ("comparison", "currency") if key not in rest]
        if missing:
            raise Problem(f'{claim["file"]}: {missing[0]} is missing in [[rests_on]]')
        percent = ratio_of(claim, rest, shelf) * 100
        if not rest.get("above", float("-inf")) < percent < rest.get("below", float("inf")):
            raise Problem(
                f'{claim["file"]}: "{claim["judgement"]}" rests on {rest["comparison"]} ({rest["currency"]}) between '
                f"{rest.get('above', '–')} and {rest.get('below', '–')} %, and it is {percent:.1f} %: judge anew"
            )


def ratio_of(claim, rest, shelf):
    for comparison in shelf.get(rest["evidence"])["comparisons"]:
        if comparison["id"] == rest["comparison"]:
            for currency in comparison["currencies"]:
                if currency["name"] == rest["currency"]:
                    return currency["ratio"]
    raise Problem(f'{claim["file"]}: evidence "{rest["evidence"]}" has no {rest["comparison"]} in {rest["currency"]}')
