import type {SshEndpoint} from './ssh-endpoint.js';

/** Options of the connection that all others share. */
export interface MasterOptions {
  readonly controlPath: string;
  /** True to fail instead of asking for host keys, passphrases and passwords. */
  readonly batch: boolean;
  readonly connectTimeoutMs: number;
}

/** Where the far end of a forwarding connects to on the node. */
export type ForwardTarget = {readonly socketPath: string} | {readonly host: string; readonly port: number};

/** Interval in seconds of keep-alive messages, and their number without an answer after which ssh gives up. */
const ALIVE_INTERVAL_SECONDS = 5;
const ALIVE_COUNT = 3;

/** Options that only an existing connection can satisfy: ssh never opens one of its own. */
const SHARED_ONLY = ['-F', 'none', '-o', 'ProxyCommand=false', '-o', 'BatchMode=yes'];
/** Name of the host in commands for an existing connection, where ssh requires one. */
const NO_HOST = 'kcri';

/**
 * Returns ssh's arguments for the connection that all others share. It runs `cat`, which proves that the connection works
 * and ends with kcri: its standard input closes even if kcri is killed. Overrides everything in the user's configuration
 * that would open ports, forward agents or run programs.
 */
export function masterArguments({user, host, port}: SshEndpoint, options: MasterOptions): readonly string[] {
  const {controlPath, batch, connectTimeoutMs} = options;
  const settings = {
    ControlMaster: 'yes',
    ControlPath: controlPath,
    ControlPersist: 'no',
    ClearAllForwardings: 'yes',
    ExitOnForwardFailure: 'yes',
    StreamLocalBindMask: '0177',
    PermitLocalCommand: 'no',
    RemoteCommand: 'none',
    Tunnel: 'no',
    ServerAliveInterval: ALIVE_INTERVAL_SECONDS,
    ServerAliveCountMax: ALIVE_COUNT,
    ConnectTimeout: Math.max(1, Math.ceil(connectTimeoutMs / 1000)),
    // Refused forwardings are reported at this level.
    LogLevel: 'INFO',
    ...(batch ? {BatchMode: 'yes'} : {}),
  };
  return [
    '-T',
    '-a',
    '-x',
    '-e',
    'none',
    ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    '--',
    host,
    'cat',
  ];
}

/** Returns ssh's arguments that add forwardings from private sockets to an existing connection. */
export function forwardArguments(
  controlPath: string,
  forwards: readonly {readonly local: string; readonly target: ForwardTarget}[],
): readonly string[] {
  return [
    ...shared(controlPath),
    '-o',
    'StreamLocalBindMask=0177',
    '-O',
    'forward',
    ...forwards.flatMap(({local, target}) => ['-L', `${local}:${farEnd(target)}`]),
    '--',
    NO_HOST,
  ];
}

/** Returns ssh's arguments for a session on an existing connection: a subsystem, or a command of one plain word. */
export function sessionArguments(
  controlPath: string,
  session: {readonly subsystem: string} | {readonly command: string},
): readonly string[] {
  return 'subsystem' in session
    ? [...shared(controlPath), '-T', '-s', '--', NO_HOST, session.subsystem]
    : [...shared(controlPath), '-T', '--', NO_HOST, session.command];
}

/** Returns the command with which people try the connection. */
export function tryCommand({user, host, port}: SshEndpoint): string {
  const login = user === undefined ? host : `${user}@${host}`;
  return `ssh ${port === undefined ? '' : `-p ${port} `}${login} true`;
}

const shared = (controlPath: string): readonly string[] => [
  ...SHARED_ONLY,
  '-o',
  `ControlPath=${controlPath}`,
];

function farEnd(target: ForwardTarget): string {
  if ('socketPath' in target) return target.socketPath;
  return `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
}
