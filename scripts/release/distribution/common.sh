# Functions of the scripts of the packages, which run as root on nodes: they start nothing that does not run, and no failure
# leaves the package half installed; it is reported with what to do.

say() { printf 'kcri: %s\n' "$*" >&2; }

has_systemd() { [ -d /run/systemd/system ]; }

# Debian's program obeys policy-rc.d, with which the administrator forbids it.
change_service() {
    if command -v deb-systemd-invoke >/dev/null; then
        deb-systemd-invoke "$@" kcri.service
    else
        systemctl "$@" kcri.service
    fi
}

reload_units() {
    if has_systemd; then
        systemctl daemon-reload || say 'systemd did not read kcri.service: run "systemctl daemon-reload"'
    fi
}
