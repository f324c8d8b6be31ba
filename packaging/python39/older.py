"""What Python 3.10 has and 3.9 has not, for the wheel of 3.9: see packaging/python39."""

import dataclasses
import itertools

MISSING = object()


def zip_strict(*iterables):
    """zip(*iterables, strict=True)."""
    for row in itertools.zip_longest(*iterables, fillvalue=MISSING):
        if any(each is MISSING for each in row):
            raise ValueError("zip() arguments are not equally long")
        yield row


def pairwise(iterable):
    """itertools.pairwise."""
    first, second = itertools.tee(iterable)
    next(second, None)
    return zip(first, second)  # noqa: B905 - that is what 3.9 lacks


def dataclass(*, slots=False, kw_only=False, **settings):
    """dataclasses.dataclass; slots save memory only, and are left out."""
    if not kw_only:
        return dataclasses.dataclass(**settings)

    def decorate(kind):
        # Without an __init__ of its own, fields may come in any order.
        kind = dataclasses.dataclass(init=False, **settings)(kind)
        kind.__init__ = by_keywords
        return kind

    return decorate


def by_keywords(self, **given):
    """An __init__ that takes each field by its keyword."""
    for field in dataclasses.fields(self):
        if field.name in given:
            value = given.pop(field.name)
        elif field.default is not dataclasses.MISSING:
            value = field.default
        elif field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        else:
            raise TypeError(f"{type(self).__name__}() lacks {field.name}")
        object.__setattr__(self, field.name, value)
    if given:
        raise TypeError(f"{type(self).__name__}() does not know {', '.join(given)}")
    if hasattr(self, "__post_init__"):
        self.__post_init__()
