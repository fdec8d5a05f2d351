import {existsSync} from 'node:fs';
import {socketPath, WELL_KNOWN_ENDPOINTS} from './endpoint.js';

/** What is known of a failed call. */
interface Failure {
  readonly method: string;
  readonly endpoint: string;
  readonly grpcCode: string;
  /** The runtime's own text. */
  readonly details: string;
}

/** What containerd says until it knows again what it ran. */
export const STARTING = /^server is not initialized yet$/;

/** The words for a person: what is left of a text that matches, `$1` and so on as in String.replace. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^connection error: desc = "transport: Error while dialing: dial unix (.*): connect: (.*)"$/,
    'connecting to $1: $2',
  ],
  [/^connection error: desc = "error reading server preface: EOF"$/, 'the connection was closed at once'],
  [
    /^connection error: desc = "error reading server preface: protocol error: (.*)"$/s,
    'what answered does not speak HTTP/2: $1',
  ],
  [/^Deadline exceeded after ([\d.]+)s.*$/s, 'no answer within $1s'],
  [/^Deadline exceeded$/, 'no answer in time'],
  [/^unknown (method|service) (\S+).*$/, 'the runtime does not know the $1 $2'],
  [/^an error occurred when try to find container "([^"]*)": .*not found$/, 'no such container "$1"'],
  [/^an error occurred when try to find sandbox(?: "[^"]*")?: .*not found$/, 'no such pod'],
  [/^Connection dropped$/, 'the connection to the runtime was lost'],
  [STARTING, 'the runtime is still starting'],
];

/** What went wrong in plain words, without gRPC's; a runtime's own text stays as it is. */
export function plainText({grpcCode, details}: Pick<Failure, 'grpcCode' | 'details'>): string {
  const text = PLAIN_WORDS.reduce((words, [pattern, plain]) => words.replace(pattern, plain), details);
  return text === '' ? `the runtime answered ${grpcCode} without saying why` : text;
}

/** A part of the runtime's or the system's text, and what to do about it. */
type Advice = readonly (readonly [RegExp, string | ((failure: Failure) => string)])[];

/** What to do about a failed call; undefined when only the runtime's text can say. */
export function hintFor(failure: Failure): string | undefined {
  const advice = [...(BY_METHOD[failure.method] ?? []), ...(BY_CODE[failure.grpcCode] ?? []), ...BY_TEXT];
  const found = advice.find(([pattern]) => pattern.test(failure.details))?.[1];
  return typeof found === 'function' ? found(failure) : found;
}

const notCri = ({endpoint}: Failure): string =>
  `what listens at ${endpoint} is not a CRI runtime; name the runtime's CRI socket with --runtime-endpoint`;

const UNAVAILABLE: Advice = [
  [
    /no such file or directory|not a directory/,
    ({endpoint}) => `there is no socket at ${endpoint}; is the runtime running? ${elsewhere(endpoint)}`,
  ],
  [
    /permission denied|operation not permitted/,
    ({endpoint}) =>
      `no permission to open ${endpoint}; run kcri as root, with sudo, or as a member of the socket's group`,
  ],
  [/connection refused/, ({endpoint}) => `nothing listens at ${endpoint}; start the runtime that owns it`],
  [/protocol error|server preface|no gRPC server/i, notCri],
  [/reset|closed|dropped|hung up|ended|EOF/i, 'the runtime went away during the call; look into its log'],
];

/** Where somebody may be listening instead. */
function elsewhere(endpoint: string): string {
  const other = WELL_KNOWN_ENDPOINTS.find((known) => known !== endpoint && existsSync(socketPath(known)));
  return other === undefined
    ? 'Name another with --runtime-endpoint, or start one with "kcri runtime up"'
    : `There is a socket at ${other}: name it with --runtime-endpoint`;
}

/** From which containerd on there is an RPC that not all have. */
const CONTAINERD_SINCE: Readonly<Record<string, string>> = {
  GetContainerEvents: '1.7',
  RuntimeConfig: '2.0',
  CheckpointContainer: '2.1',
  ListMetricDescriptors: '2.2',
  ListPodSandboxMetrics: '2.2',
};

function lacking(method: string): string {
  const since = CONTAINERD_SINCE[method];
  return `this runtime does not implement ${method}${since === undefined ? '' : `, which containerd has from ${since} on`}`;
}

const UNIMPLEMENTED: Advice = [
  // Both texts mean that the whole service is unknown, not one RPC of it.
  [/unknown service|HTTP/, notCri],
  [
    /^/,
    ({method, endpoint}) => `${lacking(method)}; "kcri version" shows which runtime answers at ${endpoint}`,
  ],
];

const BY_CODE: Readonly<Record<string, Advice>> = {
  UNAVAILABLE,
  UNIMPLEMENTED,
  INTERNAL: [[/protocol error|parse error/i, notCri]],
  UNKNOWN: [[/^Received HTTP status code/, notCri]],
  DEADLINE_EXCEEDED: [
    [/^/, 'the runtime may still be at it; --timeout 5m, or timeout in the config file, gives it longer'],
  ],
  RESOURCE_EXHAUSTED: [
    [/message larger than/, 'the answer is too long for one message; ask for less with filters'],
  ],
};

const PULL: Advice = [
  [
    /HTTP response to HTTPS client/,
    "the registry speaks plain HTTP; allow that in the runtime's own configuration of registries",
  ],
  [/x509|certificate/, "the runtime does not trust the registry's certificate; tell the runtime of it"],
  [
    /unauthorized|401|403|access denied|authorization failed|no basic auth|authentication required/i,
    'the registry wants other credentials or has no such image: see --creds, --auth-file, or "docker login"',
  ],
  [
    /no such host|i\/o timeout|connection refused|network is unreachable/,
    'the runtime does not reach the registry',
  ],
];

const STATS: Advice = [
  [/cgroupPath is empty/, 'the pod was made without a cgroup of its own: see cgroup_parent in its config'],
];

const BY_METHOD: Readonly<Record<string, Advice>> = {
  ExecSync: [[/message larger than/, 'the output is too long for one message; leave out --sync']],
  Attach: [[/CONTAINER_EXITED/, '"kcri logs" shows what the container said']],
  CreateContainer: [
    [
      // A runtime that doesn't know a mount's image sees a mount of nothing.
      /failed to (mkdir|stat) ""/,
      'this runtime does not mount images as volumes, which containerd does from 2.1 on',
    ],
  ],
  CheckpointContainer: [[/CRIU/i, "the runtime needs CRIU; install it on the runtime's machine"]],
  ListPodSandboxStats: STATS,
  PodSandboxStats: STATS,
  PullImage: PULL,
  RunPodSandbox: [
    [
      /cni (plugin|config).*not initialized|no networks? found/i,
      'the runtime has no CNI network: see /etc/cni/net.d',
    ],
    [
      /no runtime for|runtime handler|get sandbox runtime/,
      '"kcri info" lists the runtime handlers there are',
    ],
    [
      // The first thing below the runtime's directory that a pod with users of its own has to reach.
      /remount-private dst=.*permission denied/,
      'the users of a pod with hostUsers: false are nobody to the machine: every directory above the runtime\'s state must be open to them (chmod o+x); "kcri runtime up --root-dir" puts it elsewhere',
    ],
  ],
  StartContainer: [
    [
      /MOUNT_ATTR_IDMAP on /,
      'a pod with hostUsers: false takes volumes whose file system can map ids: on Linux 6.3 or later ext4, xfs, btrfs, tmpfs and others do, proc, sysfs and NFS do not',
    ],
  ],
};

const BY_TEXT: Advice = [
  [STARTING, 'try again in a moment'],
  [
    /^(an error occurred when try to find container|container ).*not found/,
    '"kcri ps -a" lists what there is',
  ],
  [/^(an error occurred when try to find sandbox|sandbox ).*not found/, '"kcri pods" lists what there is'],
];
