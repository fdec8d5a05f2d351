/** What a unit is made of. */
export interface UnitOptions {
  /** The words that start kcri: Node.js and its program. */
  readonly program: readonly string[];
  /** The options of `kcri kubelet`. */
  readonly argv: readonly string[];
  /** What relative paths in them are relative to. */
  readonly directory: string;
}

/** A unit of systemd that starts the daemon with the same options. */
export function unitFile({program, argv, directory}: UnitOptions): string {
  const words = [...program, 'kubelet', ...argv.filter((word) => !/^--?print-unit(?:=|$)/.test(word))];
  return `[Unit]
Description=kcri kubelet: keeps the Pods of manifests running
Wants=network-online.target
After=network-online.target containerd.service crio.service

[Service]
Type=notify
NotifyAccess=all
WorkingDirectory=${directory.replaceAll('%', '%%')}
ExecStart=${words.map(unitWord).join(' ')}
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

/** As systemd reads it: in quotes when need be, and with its specifiers and variables doubled. */
function unitWord(word: string): string {
  const text = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(text)
    ? text
    : `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
