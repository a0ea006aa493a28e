# shellcheck shell=bash
# shellcheck disable=SC2034  # the other parts use them
# Where everything lies.

HOUSE=/opt/hearth                 # the program
RELEASES=$HOUSE/releases          # one virtual environment for each version: the present and the last
CURRENT=$HOUSE/venv               # a link to the one that runs
OWN=$HOUSE/installer              # a copy of this installer, and what it has to remember
SOUND_ENV=$HOUSE/sound.env        # the service's way to sound, for `hearth` when a person types it
LOG=/var/log/hearth-install.log
LOCK=/run/hearth-install.lock

CONFIGURATION=/etc/hearth
SIGNERS=$HOUSE/allowed_signers       # of releases, in the form of ssh-keygen(1)
STATE=/var/lib/hearth
COMMAND=/usr/local/bin/hearth

UNIT=/etc/systemd/system/hearth.service
DROP_INS=$UNIT.d
SOUND_DROP_IN=$DROP_INS/50-sound.conf

# Where the sound server of a person's session opens a door for Hearth.
SOUND_DOOR=/run/hearth-sound
SOUND_TMPFILES=/etc/tmpfiles.d/hearth-sound.conf
SOUND_PIPEWIRE=/etc/pipewire/pipewire-pulse.conf.d/50-hearth.conf
SOUND_PULSEAUDIO=/etc/pulse/default.pa.d/50-hearth.pa
SOUND_ALSA=/etc/asound.conf
CARDS=/proc/asound # the kernel tells of its sound cards there
MARK="Written by Hearth's installer" # in each of these files; what lacks it is not ours
