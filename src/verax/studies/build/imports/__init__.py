"""Studies whose items, model outputs and explanations were made elsewhere: no dataset and no model is loaded."""

from verax.studies.build.imports.hase_bansal import import_hase_bansal
from verax.studies.build.imports.imported_study import Imported, make_study
from verax.studies.build.imports.own_files import import_files
from verax.studies.build.imports.reverse_turing import import_stimuli

__all__ = ["Imported", "import_files", "import_hase_bansal", "import_stimuli", "make_study"]
