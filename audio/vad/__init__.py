"""Voice activity: detectors that tell speech from everything else, behind one protocol."""
