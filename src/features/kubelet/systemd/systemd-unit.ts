import {FlagError} from '../../../cli/parsing/usage-errors.js';

/** Options of a unit. */
export interface SystemdUnitOptions {
  /** Command that starts kcri, such as Node.js and its script. */
  readonly program: readonly string[];
  /** Arguments of the command. */
  readonly argv: readonly string[];
  /** Working directory, against which relative paths are resolved. */
  readonly directory: string;
  /** Environment; the variables for the root directory and the endpoints are copied to the unit. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const COPIED_VARIABLES = ['KCRI_ROOT_DIR', 'CONTAINER_RUNTIME_ENDPOINT', 'IMAGE_SERVICE_ENDPOINT'];

/** Formats a systemd unit that runs `kcri kubelet` with these options. */
function formatSystemdUnit({program, argv, directory, env}: SystemdUnitOptions): string {
  return `${unitSection('kcri kubelet')}
[Service]
Type=notify
NotifyAccess=all
${environmentLines(directory, env)}ExecStart=${commandLine([...program, 'kubelet', ...argv])}
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=5
WatchdogSec=60
# Pods keep running when the kubelet stops.
KillMode=process
OOMScoreAdjust=-999
LimitNOFILE=1048576

${INSTALL_SECTION}`;
}

/** Forms in which `kubelet --print-unit` prints its unit. */
const UNIT_FORMS: Readonly<Record<string, (options: SystemdUnitOptions) => string>> = {
  kcri: formatSystemdUnit,
  kubeadm: formatKubeadmUnit,
  'kubeadm-drop-in': formatKubeadmDropIn,
};

export const UNIT_FORM_NAMES = Object.keys(UNIT_FORMS);

/** Formats the unit of a kubelet in one of its forms. Throws FlagError for any other. */
export function formatKubeletUnit(form: string, options: SystemdUnitOptions): string {
  const format = UNIT_FORMS[form];
  if (format !== undefined) return format(options);
  const known = UNIT_FORM_NAMES.join(', ');
  throw new FlagError(
    `invalid argument ${JSON.stringify(form)} for "--print-unit" flag: must be one of ${known}`,
  );
}

/** Formats `kubelet.service` with what kubeadm's drop-in adds to that of its packages, for a node without these packages. */
function formatKubeadmUnit(options: SystemdUnitOptions): string {
  return `${unitSection('kubelet: The Kubernetes Node Agent')}StartLimitIntervalSec=0

[Service]
${kubeadmLines(options)}Restart=always
RestartSec=10
OOMScoreAdjust=-999
LimitNOFILE=1048576

${INSTALL_SECTION}`;
}

/**
 * Formats a drop-in of `kubelet.service` that replaces the program of kubeadm's packages and keeps its files. It has to
 * follow theirs, 10-kubeadm.conf.
 */
function formatKubeadmDropIn(options: SystemdUnitOptions): string {
  return `[Service]
# Only the last command runs.
ExecStart=
${kubeadmLines(options)}`;
}

/** Returns the lines of the service that are the same in kubeadm's own drop-in, and those that kcri needs. */
function kubeadmLines({program, argv}: SystemdUnitOptions): string {
  const args = ['KUBECONFIG', 'CONFIG', 'KUBEADM', 'EXTRA'].map((name) => `$KUBELET_${name}_ARGS`);
  const kubeconfigs =
    '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf';
  return `Type=notify
NotifyAccess=all
WatchdogSec=60
# Pods keep running when the kubelet stops.
KillMode=process
Environment=KCRI_COMPAT=kubelet
Environment="KUBELET_KUBECONFIG_ARGS=${kubeconfigs}"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
# "kubeadm init" and "kubeadm join" write KUBELET_KUBEADM_ARGS to the first file; the others are the administrator's.
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
EnvironmentFile=-/etc/sysconfig/kubelet
ExecStart=${[commandLine([...program, ...argv]), ...args].join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
`;
}

/** Time limit of a sync that shall never give up. */
const TEN_YEARS = '--timeout=87600h';

/**
 * Formats a systemd unit that runs `kcri sync` with these options as long as its pods run: it waits until they have
 * completed, and restarts their containers until then, as their restart policies say.
 */
export function formatSyncUnit({program, argv, directory, env}: SystemdUnitOptions): string {
  const isGiven = (flag: string): boolean =>
    argv.some((word) => word === flag || word.startsWith(`${flag}=`));
  const defaults = [
    ...(isGiven('--wait') ? [] : ['--wait=complete']),
    ...(isGiven('--timeout') ? [] : [TEN_YEARS]),
  ];
  return `${unitSection('kcri sync')}
[Service]
Type=exec
${environmentLines(directory, env)}ExecStart=${commandLine([...program, 'sync', ...argv, ...defaults])}
# Pods that have finished are not run again.
Restart=on-failure
RestartSec=10
# Pods keep running when the service stops; the next start continues with them.
KillMode=process

${INSTALL_SECTION}`;
}

const INSTALL_SECTION = `[Install]
WantedBy=multi-user.target
`;

function unitSection(description: string): string {
  return `[Unit]
Description=${description}
Wants=network-online.target
After=network-online.target containerd.service crio.service
`;
}

function environmentLines(directory: string, env: SystemdUnitOptions['env']): string {
  const variables = COPIED_VARIABLES.flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [`Environment=${quoted(`${name}=${value}`.replaceAll('%', '%%'))}\n`];
  });
  return `WorkingDirectory=${directory.replaceAll('%', '%%')}\n${variables.join('')}`;
}

/** Returns a command line without the flag that asks for the unit. */
function commandLine(words: readonly string[]): string {
  return words
    .filter((word) => !/^--?print-unit(?:=|$)/.test(word))
    .map(unitWord)
    .join(' ');
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
