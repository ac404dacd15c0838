"""Languages: their codes, scripts and spacing. Everything that depends on a language asks here."""

from wholetext.languages.codes import Language as Language
from wholetext.languages.codes import code_of as code_of
from wholetext.languages.codes import language as language
from wholetext.languages.codes import pair_of as pair_of
from wholetext.languages.codes import same_language as same_language
from wholetext.languages.spacing import density as density
from wholetext.languages.spacing import has_ideographs as has_ideographs
from wholetext.languages.spacing import is_unspaced as is_unspaced
from wholetext.languages.spacing import joiner as joiner
from wholetext.languages.spacing import scripts_of as scripts_of
