# Containers keep running: the unit ends only the daemon, and the new one takes its pods over.
restart_daemon() {
    if has_systemd; then
        change_service try-restart ||
            say 'kcri.service was not restarted; "systemctl status kcri.service" shows why'
    fi
}

after_upgrade() {
    reload_units
    restart_daemon
}
