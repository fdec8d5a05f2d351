import type {PrivateRuntimeLayout} from '../private-runtime-layout.js';
import {stringifyToml, type TomlTable} from './toml.js';
import {
  configVersionOf,
  isVersionBefore,
  type ConfigVersion,
  type ContainerdVersion,
} from './containerd-version.js';

/** Input of containerd's configuration. */
export interface ContainerdConfigOptions {
  readonly version: ContainerdVersion;
  readonly layout: PrivateRuntimeLayout;
  /** Full path of runc or crun; without it a shim would use the first in its PATH. */
  readonly runc: string;
  readonly cniBinDir: string;
  readonly snapshotter: string;
  readonly restrictOomScoreAdj: boolean;
  readonly systemdCgroup: boolean;
}

/** The sandbox container's image. */
export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10';

/** Snapshotters that need prepared devices or filesystems; on many machines some fail to load. */
const UNUSED_SNAPSHOTTERS = ['aufs', 'blockfile', 'btrfs', 'devmapper', 'erofs', 'zfs'];

const STREAM_SERVER = {stream_server_address: '127.0.0.1', stream_server_port: '0'};

/** Returns containerd's config.toml in the format of its version. */
export function renderContainerdConfig(facts: ContainerdConfigOptions): string {
  const {layout, version} = facts;
  const configVersion = configVersionOf(version);
  return `${stringifyToml({
    version: configVersion,
    root: layout.containerdRoot,
    state: layout.stateDir,
    temp: layout.tempDir,
    imports: [],
    disabled_plugins: UNUSED_SNAPSHOTTERS.map((name) => `io.containerd.snapshotter.v1.${name}`),
    ...(configVersion === 4 ? {} : {grpc: {address: layout.socket}}),
    plugins: {
      'io.containerd.internal.v1.opt': {path: layout.optDir},
      // It would use the machine-wide socket.
      ...(isVersionBefore(version, 1, 7) ? {} : {'io.containerd.nri.v1.nri': {disable: true}}),
      ...PLUGINS[configVersion](facts),
    },
  })}\n`;
}

const PLUGINS = {
  2: pluginsOfVersion2,
  3: pluginsOfVersion3,
  4: pluginsOfVersion4,
} as const satisfies Record<ConfigVersion, (facts: ContainerdConfigOptions) => TomlTable>;

function pluginsOfVersion2(facts: ContainerdConfigOptions): TomlTable {
  const {snapshotter} = facts;
  return {
    'io.containerd.grpc.v1.cri': {
      sandbox_image: PAUSE_IMAGE,
      ...STREAM_SERVER,
      ...runtimeSection(facts, {snapshotter}),
    },
  };
}

function pluginsOfVersion3(facts: ContainerdConfigOptions): TomlTable {
  const {snapshotter} = facts;
  return {
    'io.containerd.grpc.v1.cri': STREAM_SERVER,
    'io.containerd.cri.v1.images': {snapshotter, pinned_images: {sandbox: PAUSE_IMAGE}},
    'io.containerd.cri.v1.runtime': runtimeSection(facts),
  };
}

/** Since 2.4, containerd ignores the top-level `grpc` table. */
function pluginsOfVersion4(facts: ContainerdConfigOptions): TomlTable {
  const {socket} = facts.layout;
  return {
    'io.containerd.server.v1.grpc': {address: socket},
    'io.containerd.server.v1.ttrpc': {address: `${socket}.ttrpc`},
    ...pluginsOfVersion3(facts),
  };
}

/** Keys that did not change when 2.0 split the section of the CRI plugin. */
function runtimeSection(facts: ContainerdConfigOptions, containerd: TomlTable = {}): TomlTable {
  return {
    restrict_oom_score_adj: facts.restrictOomScoreAdj,
    netns_mounts_under_state_dir: true,
    cni: {
      conf_dir: facts.layout.cniConfDir,
      ...(isVersionBefore(facts.version, 2, 1) ? {bin_dir: facts.cniBinDir} : {bin_dirs: [facts.cniBinDir]}),
    },
    containerd: {
      ...containerd,
      default_runtime_name: 'runc',
      runtimes: {
        runc: {
          runtime_type: 'io.containerd.runc.v2',
          options: {
            BinaryName: facts.runc,
            Root: `${facts.layout.stateDir}/runc`,
            SystemdCgroup: facts.systemdCgroup,
          },
        },
      },
    },
  };
}
