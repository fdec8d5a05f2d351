import type {Layout} from './layout.js';
import {tomlText, type TomlTable} from './toml.js';
import {configVersionOf, isBefore, type ConfigVersion, type ContainerdVersion} from './version.js';

/** What containerd's configuration is made from. */
export interface ConfigFacts {
  readonly version: ContainerdVersion;
  readonly layout: Layout;
  /** The full path of runc or crun: a shim would else take the first in its PATH. */
  readonly runc: string;
  readonly cniBinDir: string;
  readonly snapshotter: string;
  readonly restrictOomScoreAdj: boolean;
  readonly systemdCgroup: boolean;
}

/** The sandbox container's image. */
export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10';

/** Snapshotters that need devices or file systems set up for them; some can't even load on many machines. */
const UNUSED_SNAPSHOTTERS = ['aufs', 'blockfile', 'btrfs', 'devmapper', 'erofs', 'zfs'];

const STREAM_SERVER = {stream_server_address: '127.0.0.1', stream_server_port: '0'};

/** The text of containerd's config.toml, in the form that its version reads. */
export function containerdConfig(facts: ConfigFacts): string {
  const {layout, version} = facts;
  const configVersion = configVersionOf(version);
  return `${tomlText({
    version: configVersion,
    root: layout.containerdRoot,
    state: layout.stateDir,
    temp: layout.tempDir,
    imports: [],
    disabled_plugins: UNUSED_SNAPSHOTTERS.map((name) => `io.containerd.snapshotter.v1.${name}`),
    ...(configVersion === 4 ? {} : {grpc: {address: layout.socket}}),
    plugins: {
      'io.containerd.internal.v1.opt': {path: layout.optDir},
      // Its socket would be the machine's one.
      ...(isBefore(version, 1, 7) ? {} : {'io.containerd.nri.v1.nri': {disable: true}}),
      ...PLUGINS[configVersion](facts),
    },
  })}\n`;
}

const PLUGINS = {
  2: pluginsOfVersion2,
  3: pluginsOfVersion3,
  4: pluginsOfVersion4,
} as const satisfies Record<ConfigVersion, (facts: ConfigFacts) => TomlTable>;

function pluginsOfVersion2(facts: ConfigFacts): TomlTable {
  const {snapshotter} = facts;
  return {
    'io.containerd.grpc.v1.cri': {
      sandbox_image: PAUSE_IMAGE,
      ...STREAM_SERVER,
      ...runtimeSection(facts, {snapshotter}),
    },
  };
}

function pluginsOfVersion3(facts: ConfigFacts): TomlTable {
  const {snapshotter} = facts;
  return {
    'io.containerd.grpc.v1.cri': STREAM_SERVER,
    'io.containerd.cri.v1.images': {snapshotter, pinned_images: {sandbox: PAUSE_IMAGE}},
    'io.containerd.cri.v1.runtime': runtimeSection(facts),
  };
}

/** 2.4 ignores the top-level `grpc` table. */
function pluginsOfVersion4(facts: ConfigFacts): TomlTable {
  const {socket} = facts.layout;
  return {
    'io.containerd.server.v1.grpc': {address: socket},
    'io.containerd.server.v1.ttrpc': {address: `${socket}.ttrpc`},
    ...pluginsOfVersion3(facts),
  };
}

/** The keys that stayed the same when the CRI plugin's section was split in 2.0. */
function runtimeSection(facts: ConfigFacts, containerd: TomlTable = {}): TomlTable {
  return {
    restrict_oom_score_adj: facts.restrictOomScoreAdj,
    netns_mounts_under_state_dir: true,
    cni: {
      conf_dir: facts.layout.cniConfDir,
      ...(isBefore(facts.version, 2, 1) ? {bin_dir: facts.cniBinDir} : {bin_dirs: [facts.cniBinDir]}),
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
