# Containers keep running without the daemon.
stop_daemon() {
    if has_systemd; then
        change_service stop || say 'kcri.service was not stopped: run "systemctl stop kcri.service"'
    fi
    if command -v systemctl >/dev/null; then
        systemctl --no-reload --quiet disable kcri.service ||
            say 'kcri.service is still enabled: run "systemctl disable kcri.service"'
    fi
}

# The state of kcri is in a directory of its own, or that of the kubelet whose place it has taken.
STATE_FOLDERS='/var/lib/kcri /var/lib/kubelet'

list_pods() {
    running='{range .items[?(@.status.phase=="Running")]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}'
    for folder in $STATE_FOLDERS; do
        if [ -d "$folder" ]; then
            timeout 10 kcri get pods --root-dir="$folder" --manager=kcri -o jsonpath="$running" 2>/dev/null ||
                return 1
        fi
    done
}

report_pods() {
    if ! pods=$(list_pods); then
        say 'pods that kcri runs keep running, but it could not list them; nothing restarts their containers'
    elif [ -n "$pods" ]; then
        say "these pods keep running ($(printf '%s\n' "$pods" | wc -l)), but nothing restarts their containers:"
        printf '%s\n' "$pods" >&2
    else
        return 0
    fi
    say 'to delete them with their data, install kcri again and run "kcri delete --all"'
}

# Removes the names that the administrator gave to kcri (README.md).
remove_alternatives() {
    command -v update-alternatives >/dev/null || return 0
    for name in crictl kubelet; do
        case $(update-alternatives --display "$name" 2>/dev/null) in
        *'/usr/bin/kcri - '*)
            update-alternatives --remove "$name" /usr/bin/kcri ||
                say "run \"update-alternatives --remove $name /usr/bin/kcri\""
            ;;
        esac
    done
}

before_removal() {
    report_pods
    stop_daemon
    remove_alternatives
}
