"""Canonical JSON (RFC 8785) and a strict reader of it."""

import json
import math


class NotCanonical(ValueError):
    pass


EXACT = 2**53 - 1
DEPTH_MAX = 128


def _number(value):
    if isinstance(value, int):
        if abs(value) > EXACT:
            raise NotCanonical("an integer that is not exact")
        return str(value)
    if math.isnan(value) or math.isinf(value) or abs(value) > EXACT:
        raise NotCanonical("a number that is not exact")
    if value == int(value):
        return str(int(value))
    # Python writes the shortest digits too; the form of the exponent is that of ECMAScript.
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        digits = digits.ljust(point, "0")
        return sign + digits[:point] + ("." + digits[point:] if digits[point:] else "")
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    rest = "." + digits[1:] if len(digits) > 1 else ""
    power = point - 1
    return f"{sign}{digits[0]}{rest}e{'+' if power > 0 else '-'}{abs(power)}"


def _string(text):
    text.encode("utf-8")  # half of a surrogate pair has no UTF-8
    return json.dumps(text, ensure_ascii=False)


def canonical(value):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(_string(key) + ":" + canonical(value[key]) for key in keys) + "}"


def _refuse(text):
    raise NotCanonical(text)


def _unique(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotCanonical("a member twice")
    return value


def parse(data):
    """The value of canonical JSON in these bytes; NotCanonical for everything else."""
    try:
        text = data.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
        if canonical(value) != text:
            raise NotCanonical("another spelling")
        return value
    except (ValueError, RecursionError) as error:
        raise NotCanonical(str(error)) from None
