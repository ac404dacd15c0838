"""Human annotation: samples of documents, campaigns for Pearmut, and their judgments."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.annotation.annotations import (
        PearmutAnnotations as PearmutAnnotations,
        read_pearmut as read_pearmut,
        write_judgments as write_judgments,
    )
    from wholetext.annotation.campaign import Campaign as Campaign, make_campaign as make_campaign
    from wholetext.annotation.sampling import (
        Sample as Sample,
        SampledDocument as SampledDocument,
        sample as sample,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "annotation.annotations": ("PearmutAnnotations", "read_pearmut", "write_judgments"),
            "annotation.campaign": ("Campaign", "make_campaign"),
            "annotation.sampling": ("Sample", "SampledDocument", "sample"),
        },
    )
