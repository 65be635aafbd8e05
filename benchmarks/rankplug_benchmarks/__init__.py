"""Speed, memory and quality of rankplug beside other libraries: ``rankplug bench``."""
