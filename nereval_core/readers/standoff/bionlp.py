"""BioNLP's shared tasks: `.txt` with `.a1`, the entities that are given, and `.a2`, others, in lines of brat.

Both files of a text are one document. Events, modifications and equivalences are left out and counted. See Kim and
others, "Overview of BioNLP Shared Task 2011".
"""

from __future__ import annotations

from dataclasses import replace

from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.brat import BratReader
from nereval_core.readers.brat.files import BIONLP


class BioNlpReader(BratReader):
    name = "bionlp"
    description = "BioNLP's shared tasks: a folder of .txt, .a1 and .a2 files"
    suffixes = BIONLP

    def read(self, source: Source, options: ReadOptions) -> Reading:
        return replace(super().read(source, options), format=self.name)


READER = BioNlpReader()
