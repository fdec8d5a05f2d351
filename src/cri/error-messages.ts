import {existsSync} from 'node:fs';
import {unlessRoot} from '../base/errors.js';
import {socketPath, swappedSocketHint, WELL_KNOWN_ENDPOINTS} from './endpoint.js';

/*
 * The tables are functions: most commands see no error, and need not create the patterns.
 */

/** A failed call, from which message and hint are derived. */
interface Failure {
  readonly method: string;
  readonly endpoint: string;
  readonly grpcCode: string;
  /** The runtime's own text. */
  readonly details: string;
}

/** Error text of containerd while it recovers its state after a start. */
export const RUNTIME_STARTING = /^server is not initialized yet$/;

/** Plain messages for known texts of gRPC and the runtimes; `$1` and so on as in String.replace. */
const plainMessages = (): readonly (readonly [RegExp, string])[] => [
  [
    /^connection error: desc = "transport: Error while dialing: dial unix (.*): connect: (.*)"$/,
    'cannot connect to $1: $2',
  ],
  [
    /^connection error: desc = "error reading server preface: EOF"$/,
    'the server closed the connection immediately',
  ],
  [
    /^connection error: desc = "error reading server preface: protocol error: (.*)"$/s,
    'the server does not speak HTTP/2: $1',
  ],
  [/^Deadline exceeded after ([\d.]+)s.*$/s, 'no response within $1s'],
  [/^Deadline exceeded$/, 'no response before the deadline'],
  [/^unknown (method|service) (\S+).*$/, 'the runtime does not support the $1 $2'],
  [/^an error occurred when try to find container "([^"]*)": .*not found$/, 'no such container "$1"'],
  [/^an error occurred when try to find sandbox(?: "[^"]*")?: .*not found$/, 'no such pod'],
  // CRI-O's ExecSync: the output of runc or crun, and the exit code of its monitor.
  [/^command error: (.*?)\s*, stdout: .*, stderr: .*, exit code -?\d+$/s, '$1'],
  [/^could not find (container|pod) "([^"]*)": .*not found: ID does not exist$/, 'no such $1 "$2"'],
  [/^Error response from daemon: No such container: (\S+)$/, 'no such container "$1"'],
  [/^Connection dropped$/, 'the connection to the runtime was lost'],
  [RUNTIME_STARTING, 'the runtime is starting'],
];

/** Texts of grpc-go and grpc-js for a response that is not one valid message with a status. */
export const INVALID_RESPONSE = new RegExp(
  [
    'grpc: failed to unmarshal',
    'No message received$',
    'Too many responses received$',
    'the response is compressed',
    'Failed to decompress',
    'Received (message|headers) larger than',
    'Received RST_STREAM',
    'Call ended without gRPC status',
    '(podSandboxId|containerId|imageRef|status|url) is not set$',
  ]
    .map((text) => `^${text}`)
    .join('|'),
);

/** Text of grpc-js for the response of an HTTP server, which can be a proxy or not a runtime at all. */
const NOT_GRPC = 'Received HTTP status code';

/** Returns a message without gRPC's terms; a runtime's own text stays unchanged. */
export function formatPlainMessage({method, endpoint, grpcCode, details}: Failure): string {
  if (INVALID_RESPONSE.test(details) || details.startsWith(NOT_GRPC))
    return `invalid response to ${method} from ${endpoint}: ${details}`;
  const text = plainMessages().reduce(
    (message, [pattern, plain]) => message.replace(pattern, plain),
    details,
  );
  return text === '' ? `the runtime returned ${grpcCode} without a message` : text;
}

/** Patterns of the runtime's or the system's error texts, each with a hint. */
type Advice = readonly (readonly [RegExp, string | ((failure: Failure) => string)])[];

/** Returns a hint on how to fix a failed call; undefined if none is known. */
export function hintFor(failure: Failure): string | undefined {
  const remote =
    failure.endpoint.startsWith('ssh:') && failure.grpcCode === 'UNAVAILABLE' ? remoteAdvice() : [];
  const ofCode = adviceByCode()[failure.grpcCode] ?? [];
  const advice = [...(adviceByMethod()[failure.method] ?? []), ...remote, ...ofCode, ...adviceByText()];
  const found = advice.find(([pattern]) => pattern.test(failure.details))?.[1];
  return typeof found === 'function' ? found(failure) : found;
}

const notCri = ({endpoint}: Failure): string =>
  `the server at ${endpoint} is not a CRI runtime; set --runtime-endpoint to the CRI socket of the runtime`;

const unavailable = (): Advice => [
  [
    /no such file or directory|not a directory/,
    ({endpoint}) =>
      swappedSocketHint(socketPath(endpoint)) ??
      `there is no socket at ${endpoint}; is the runtime running? ${otherEndpoint(endpoint)}`,
  ],
  [
    /permission denied|operation not permitted/,
    ({endpoint}) =>
      `permission denied for ${endpoint}; ${unlessRoot(
        "run kcri as root, with sudo, or as a member of the socket's group",
        'a security module such as AppArmor or SELinux may deny the access',
      )}`,
  ],
  [
    /connection refused/,
    ({endpoint}) =>
      swappedSocketHint(socketPath(endpoint)) ??
      `nothing listens on ${endpoint}; start the runtime that owns the socket`,
  ],
  [/protocol error|server preface|no gRPC server/i, notCri],
  [
    /reset|closed|dropped|hung up|ended|EOF/i,
    'the runtime closed the connection during the call; see its log',
  ],
];

/** Advice for a socket on a node that is reached through ssh. */
const remoteAdvice = (): Advice => [
  [
    /no such file or directory|not a directory/,
    ({endpoint}) =>
      `there is no socket at ${endpoint}; is the runtime running? Another socket is selected by its path: ssh://HOST/run/crio/crio.sock`,
  ],
  [
    /permission denied|operation not permitted/,
    "connect as root (ssh://root@HOST), or add the user to the socket's group on the node",
  ],
  [/connection refused/, 'nothing listens on the socket; start the runtime on the node'],
  [
    /sshd does not forward/,
    'allow it in the sshd_config of the node: AllowStreamLocalForwarding yes, and no DisableForwarding',
  ],
];

/** Suggests another endpoint: the first well-known socket that exists. */
function otherEndpoint(endpoint: string): string {
  const other = WELL_KNOWN_ENDPOINTS.find((known) => known !== endpoint && existsSync(socketPath(known)));
  return other === undefined
    ? 'Set --runtime-endpoint, or start a runtime with "kcri runtime up"'
    : `Found another socket: try --runtime-endpoint ${other}`;
}

/** First containerd version with an RPC that older ones lack. */
const CONTAINERD_SINCE: Readonly<Record<string, string>> = {
  GetContainerEvents: '1.7',
  RuntimeConfig: '2.0',
  CheckpointContainer: '2.1',
  ListMetricDescriptors: '2.2',
  ListPodSandboxMetrics: '2.2',
};

/** Commands that need no RPC, instead of those that need one. */
const INSTEAD: Readonly<Record<string, string>> = {
  GetContainerEvents: '"kcri get events" shows the events that kcri has stored, and with -w new ones',
};

function unimplemented(method: string, endpoint: string): string {
  const since = CONTAINERD_SINCE[method];
  const version = since === undefined ? '' : ` (containerd: ${since} or later)`;
  const next = INSTEAD[method] ?? `run "kcri version" to see which runtime serves ${endpoint}`;
  return `this runtime does not implement ${method}${version}; ${next}`;
}

const FAULTY_RUNTIME = 'the runtime, or a proxy in front of it, is faulty; see its log';

const unimplementedAdvice = (): Advice => [
  // The whole service is unknown, not a single RPC.
  [/unknown service|HTTP/, notCri],
  [INVALID_RESPONSE, FAULTY_RUNTIME],
  [/^/, ({method, endpoint}) => unimplemented(method, endpoint)],
];

const adviceByCode = (): Readonly<Record<string, Advice>> => ({
  UNAVAILABLE: unavailable(),
  UNIMPLEMENTED: unimplementedAdvice(),
  INTERNAL: [
    [/protocol error|parse error/i, notCri],
    [INVALID_RESPONSE, FAULTY_RUNTIME],
  ],
  UNKNOWN: [[new RegExp(`^${NOT_GRPC}`), notCri]],
  DEADLINE_EXCEEDED: [
    [
      /^/,
      'the runtime may still be working; set a longer --timeout, such as 5m, or timeout in the config file',
    ],
  ],
  RESOURCE_EXHAUSTED: [
    [
      /message larger than/,
      ({method}) =>
        method.startsWith('List') ? 'the response is too large for one message; use filters' : FAULTY_RUNTIME,
    ],
    [/headers larger than/, FAULTY_RUNTIME],
  ],
});

const pullAdvice = (): Advice => [
  [
    /HTTP response to HTTPS client/,
    "the registry uses plain HTTP; allow it in the runtime's registry configuration",
  ],
  [
    /x509|certificate/,
    "the runtime does not trust the registry's certificate; add its CA to the runtime's registry configuration",
  ],
  [
    /unauthorized|401|403|access denied|authorization failed|no basic auth|authentication required/i,
    'the registry rejected the credentials or has no such image; use --creds, --auth-file, or "docker login"',
  ],
  [
    /no such host|i\/o timeout|connection refused|network is unreachable/,
    'the runtime cannot reach the registry',
  ],
];

const statsAdvice = (): Advice => [
  [/cgroupPath is empty/, 'the pod has no cgroup; set cgroup_parent in its config'],
];

const adviceByMethod = (): Readonly<Record<string, Advice>> => ({
  ExecSync: [[/message larger than/, 'the output is too large for one message; omit --sync']],
  Attach: [[/CONTAINER_EXITED/, 'run "kcri logs" to see the output of the container']],
  CreateContainer: [
    [
      // A runtime without support for image volumes treats one as a bind mount with an empty source.
      /failed to (mkdir|stat) ""/,
      'this runtime does not support image volumes (containerd: 2.1 or later)',
    ],
  ],
  CheckpointContainer: [[/CRIU/i, 'the runtime needs CRIU; install it on the node']],
  ListPodSandboxStats: statsAdvice(),
  PodSandboxStats: statsAdvice(),
  PullImage: pullAdvice(),
  RunPodSandbox: [
    [
      /cni (plugin|config).*not initialized|no networks? found/i,
      'the runtime has no CNI network; configure one in /etc/cni/net.d',
    ],
    [/no runtime for|runtime handler|get sandbox runtime/, 'run "kcri info" to list the runtime handlers'],
    [
      // The first directory below the runtime's state directory that a pod with its own user namespace has to access.
      /remount-private dst=.*permission denied/,
      'a pod with hostUsers: false runs as unprivileged users of the node: every directory above the runtime\'s state must be searchable by others (chmod o+x); move it with "kcri runtime up --root-dir"',
    ],
  ],
  StartContainer: [
    [
      /MOUNT_ATTR_IDMAP on /,
      'volumes of a pod with hostUsers: false must be on a filesystem with ID-mapped mounts: ext4, xfs, btrfs, tmpfs and others on Linux 6.3 or later, but not proc, sysfs or NFS',
    ],
  ],
});

/** Error text of containerd for an exited container with a task, left behind when the client of StartContainer was lost. */
const LEFT_TASK = /cannot delete running task (\w+)/;

function leftTask({endpoint, details}: Failure): string {
  const [, id = ''] = LEFT_TASK.exec(details) ?? [];
  const path = endpoint.replace(/^ssh:\/\/[^/]*/, '');
  return `containerd has kept a task of the container; run "ctr -a ${socketPath(path)} -n k8s.io tasks delete ${id}" and try again`;
}

const adviceByText = (): Advice => [
  [RUNTIME_STARTING, 'try again in a moment'],
  [LEFT_TASK, leftTask],
  [
    /^(an error occurred when try to find container|container |could not find container ).*not found|No such container: /,
    'run "kcri ps -a" to list containers',
  ],
  [
    /^(an error occurred when try to find sandbox|sandbox |could not find pod ).*not found/,
    'run "kcri pods" to list pods',
  ],
];
