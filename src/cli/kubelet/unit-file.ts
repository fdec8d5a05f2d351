/** What a unit is made of. */
export interface UnitOptions {
  /** The words that start kcri: Node.js and its program. */
  readonly program: readonly string[];
  /** The options of `kcri kubelet`. */
  readonly argv: readonly string[];
  /** What relative paths in them are relative to. */
  readonly directory: string;
  /** What says where root directory and runtime are is kept of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const KEPT_VARIABLES = ['KCRI_ROOT_DIR', 'CONTAINER_RUNTIME_ENDPOINT', 'IMAGE_SERVICE_ENDPOINT'];

/** A unit of systemd that starts the daemon with the same options. */
export function unitFile({program, argv, directory, env}: UnitOptions): string {
  const words = [...program, 'kubelet', ...argv.filter((word) => !/^--?print-unit(?:=|$)/.test(word))];
  const variables = KEPT_VARIABLES.flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [`Environment=${quoted(`${name}=${value}`.replaceAll('%', '%%'))}\n`];
  });
  return `[Unit]
Description=kcri kubelet: keeps the Pods of manifests running
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
# The pods go on running without it.
KillMode=process
OOMScoreAdjust=-999
LimitNOFILE=1048576

[Install]
WantedBy=multi-user.target
`;
}

/** A word of a command line: with systemd's specifiers and variables doubled. */
function unitWord(word: string): string {
  return quoted(word.replaceAll('%', '%%').replaceAll('$', '$$$$'));
}

/** In quotes when need be. */
function quoted(text: string): string {
  return /^[\w@%+=:,./$-]+$/.test(text)
    ? text
    : `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
