/** Options of {@link formatSystemdUnit}. */
export interface SystemdUnitOptions {
  /** Command that starts kcri, such as Node.js and its script. */
  readonly program: readonly string[];
  /** Arguments of `kcri kubelet`. */
  readonly argv: readonly string[];
  /** Working directory, against which relative paths are resolved. */
  readonly directory: string;
  /** Environment; the variables for the root directory and the endpoints are copied to the unit. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const COPIED_VARIABLES = ['KCRI_ROOT_DIR', 'CONTAINER_RUNTIME_ENDPOINT', 'IMAGE_SERVICE_ENDPOINT'];

/** Formats a systemd unit that runs `kcri kubelet` with these options. */
export function formatSystemdUnit({program, argv, directory, env}: SystemdUnitOptions): string {
  const words = [...program, 'kubelet', ...argv.filter((word) => !/^--?print-unit(?:=|$)/.test(word))];
  const variables = COPIED_VARIABLES.flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [`Environment=${quoted(`${name}=${value}`.replaceAll('%', '%%'))}\n`];
  });
  return `[Unit]
Description=kcri kubelet
Wants=network-online.target
After=network-online.target containerd.service crio.service

[Service]
Type=notify
NotifyAccess=all
WorkingDirectory=${directory.replaceAll('%', '%%')}
${variables.join('')}ExecStart=${words.map(unitWord).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=5
WatchdogSec=60
# Pods keep running when the kubelet stops.
KillMode=process
OOMScoreAdjust=-999
LimitNOFILE=1048576

[Install]
WantedBy=multi-user.target
`;
}

/** Quotes a word of a command line and escapes systemd's specifiers and variables. */
function unitWord(word: string): string {
  return quoted(word.replaceAll('%', '%%').replaceAll('$', '$$$$'));
}

/** Quotes the text if necessary. */
function quoted(text: string): string {
  return /^[\w@%+=:,./$-]+$/.test(text)
    ? text
    : `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
