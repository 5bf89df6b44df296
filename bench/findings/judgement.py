"""Checks the conditions of a judgement on the evidence, so that renewed evidence cannot contradict an old judgement."""

from . import schema
from .problem import Problem

KEYS = {"evidence": schema.TEXT, "comparison": schema.TEXT, "currency": schema.TEXT, "above": schema.NUMBER, "below": schema.NUMBER}


def hold(claim, shelf):
    """Fails unless every [[rests_on]] of the claim holds."""
    for number, rest in enumerate(claim["rests_on"], 1):
        place = f"{claim['file']}, [[rests_on]] {number}"
        schema.hold(place, rest, KEYS, ("evidence", "comparison", "currency"))
        if "above" not in rest and "below" not in rest:
            raise Problem(f"{place}: above or below is missing, in percent")
        percent = ratio_of(place, rest, shelf) * 100
        if not rest.get("above", float("-inf")) < percent < rest.get("below", float("inf")):
            raise Problem(
                f'{place}: "{claim["judgement"]}" rests on {rest["comparison"]} ({rest["currency"]}) between '
                f"{rest.get('above', '–')} and {rest.get('below', '–')} %, and it is {percent:.1f} %: judge it again"
            )


def ratio_of(place, rest, shelf):
    comparisons = {one["id"]: one for one in shelf.get(rest["evidence"], place)["comparisons"]}
    if rest["comparison"] not in comparisons:
        alike = [name for name in comparisons if name.rpartition("/")[2] == rest["comparison"].rpartition("/")[2]]
        raise Problem(
            f'{place}: evidence "{rest["evidence"]}" has no comparison "{rest["comparison"]}"; there are: '
            f"{', '.join(alike or sorted({name.rpartition('/')[2] for name in comparisons})) or 'none'}"
        )
    currencies = {one["name"]: one for one in comparisons[rest["comparison"]]["currencies"]}
    schema.one_of(place, "currency", rest["currency"], currencies)
    currency = currencies[rest["currency"]]
    if currency["verdict"] == "void":
        raise Problem(f"{place}: {rest['comparison']} is void and supports no judgement")
    return currency["ratio"]
