import {createHash} from 'node:crypto';
import {join} from 'node:path';

/** Paths of a private runtime. */
export interface PrivateRuntimeLayout {
  /** Directory of all files that survive a reboot. */
  readonly root: string;
  /** Lock held by `up` and `down`. */
  readonly lockFile: string;
  readonly configFile: string;
  readonly logFile: string;
  /** Persistent root of containerd. */
  readonly containerdRoot: string;
  /** State of containerd, which a reboot invalidates: bundles, network namespaces, mounts. */
  readonly stateDir: string;
  readonly socket: string;
  readonly endpoint: string;
  readonly cniConfDir: string;
  readonly ipamDir: string;
  readonly tempDir: string;
  readonly optDir: string;
}

/** Longest path of a unix socket, 107 bytes, less the suffix of containerd's second socket `<socket>.ttrpc`. */
const LONGEST_SOCKET = 107 - '.ttrpc'.length;

/**
 * Returns the layout below kcri's root directory (absolute, without symbolic links). If the path is too long for a
 * socket, socket and state are in /run/kcri/, under a hash of the path.
 */
export function computeRuntimeLayout(rootDir: string): PrivateRuntimeLayout {
  const root = join(rootDir, 'runtime');
  const runDir = fitsSocket(join(root, SOCKET)) ? root : join(RUN_ROOT, hash(root));
  const socket = join(runDir, SOCKET);
  return {
    root,
    lockFile: `/run/kcri-${hash(root)}.lock`,
    configFile: join(root, 'config.toml'),
    logFile: join(root, 'containerd.log'),
    containerdRoot: join(root, 'root'),
    stateDir: join(runDir, 'state'),
    socket,
    endpoint: `unix://${socket}`,
    cniConfDir: join(root, 'cni', 'conf'),
    ipamDir: join(root, 'cni', 'ipam'),
    tempDir: join(root, 'tmp'),
    optDir: join(root, 'opt'),
  };
}

/** Directories that pods use in kcri's root directory besides the runtime; empty without pods and runtime. */
export const POD_DIRS = [
  'image_manager',
  'pods',
  'kcri/events',
  'kcri/image_manager',
  'kcri/kubelet',
  'kcri/locks',
  'kcri/mounts',
  'kcri/records',
  'kcri/resources',
  'kcri/statuses',
];

/** Files of a kubelet in its root directory; without pods they have no content of use. */
export const POD_FILES = ['actuated_pods_state', 'allocated_pods_state'];

/** Directory of sockets and state for root directories with long paths. */
export const RUN_ROOT = '/run/kcri';
const SOCKET = 'containerd.sock';

function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_SOCKET;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
