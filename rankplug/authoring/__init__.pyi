from ._check import check_plugins as check_plugins
from ._check import plugins_of_file as plugins_of_file
from ._doctor import examine as examine
from ._scaffold import NewPlugin as NewPlugin
from ._warm import Compilation as Compilation
from ._warm import compile_ahead as compile_ahead
from ._warm import to_compile as to_compile
