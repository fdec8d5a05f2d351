import {describe, expect, test} from 'vitest';
import {
  renderContainerdConfig,
  type ContainerdConfigOptions,
} from '../../../src/private-runtime/containerd/containerd-config.js';
import {computeRuntimeLayout} from '../../../src/private-runtime/private-runtime-layout.js';
import {stringifyToml} from '../../../src/private-runtime/containerd/toml.js';
import {
  configVersionOf,
  isVersionBefore,
  parseContainerdVersion,
} from '../../../src/private-runtime/containerd/containerd-version.js';

function configFor(version: string, facts: Partial<ContainerdConfigOptions> = {}): string {
  return renderContainerdConfig({
    version: parseContainerdVersion(`containerd x ${version}`),
    layout: computeRuntimeLayout('/var/lib/kcri'),
    runc: '/usr/sbin/runc',
    cniBinDir: '/usr/lib/cni',
    snapshotter: 'overlayfs',
    restrictOomScoreAdj: true,
    systemdCgroup: false,
    ...facts,
  });
}

/** Returns the lines of one table, without its header. */
function section(config: string, ...path: readonly string[]): string[] {
  const heading = `[${path.map((part) => `"${part}"`).join('.')}]`;
  const [, rest] = config.split(`${heading}\n`);
  return rest?.split('\n\n')[0]?.trim().split('\n') ?? [];
}

const CRI_1 = 'io.containerd.grpc.v1.cri';
const RUNTIME_2 = 'io.containerd.cri.v1.runtime';

describe('containerdConfig', () => {
  test.each([
    ['1.6.20~ds1', 2],
    ['1.7.24', 2],
    ['2.0.5', 3],
    ['2.1.9+unknown', 3],
    ['2.3.1', 3],
    ['2.4.0', 4],
    ['3.0.0', 4],
  ])('containerd %s gets configuration version %i', (version, configVersion) => {
    expect(configFor(version).split('\n')[0]).toBe(`"version" = ${configVersion}`);
  });

  test('version 2 has one CRI section', () => {
    const config = configFor('1.6.20');
    expect(section(config, 'grpc')).toEqual(['"address" = "/var/lib/kcri/runtime/containerd.sock"']);
    expect(section(config, 'plugins', CRI_1)).toContain('"sandbox_image" = "registry.k8s.io/pause:3.10"');
    expect(section(config, 'plugins', CRI_1)).toContain('"restrict_oom_score_adj" = true');
    expect(section(config, 'plugins', CRI_1, 'containerd')).toContain('"snapshotter" = "overlayfs"');
  });

  test('version 3 has separate images and runtime sections, and the pinned sandbox image', () => {
    const config = configFor('2.1.9', {snapshotter: 'native', restrictOomScoreAdj: false});
    expect(section(config, 'plugins', 'io.containerd.cri.v1.images')).toEqual(['"snapshotter" = "native"']);
    expect(section(config, 'plugins', 'io.containerd.cri.v1.images', 'pinned_images')).toEqual([
      '"sandbox" = "registry.k8s.io/pause:3.10"',
    ]);
    expect(section(config, 'plugins', RUNTIME_2)).toContain('"restrict_oom_score_adj" = false');
  });

  test('version 4 has the sockets as plugins, and omits a table that 2.4 ignores', () => {
    const config = configFor('2.4.0');
    const socket = '/var/lib/kcri/runtime/containerd.sock';
    expect(section(config, 'grpc')).toEqual([]);
    expect(section(config, 'plugins', 'io.containerd.server.v1.grpc')).toEqual([`"address" = "${socket}"`]);
    expect(section(config, 'plugins', 'io.containerd.server.v1.ttrpc')).toEqual([
      `"address" = "${socket}.ttrpc"`,
    ]);
  });

  test.each([
    ['1.7.24', CRI_1, '"bin_dir" = "/usr/lib/cni"'],
    ['2.0.5', RUNTIME_2, '"bin_dir" = "/usr/lib/cni"'],
    ['2.1.9', RUNTIME_2, '"bin_dirs" = ["/usr/lib/cni"]'],
  ])('containerd %s is configured with the CNI plugin directory', (version, plugin, line) => {
    expect(section(configFor(version), 'plugins', plugin, 'cni')).toContain(line);
  });

  test('runc is configured by its full path, with its own root', () => {
    const options = section(
      configFor('2.1.9'),
      'plugins',
      RUNTIME_2,
      'containerd',
      'runtimes',
      'runc',
      'options',
    );
    expect(options).toEqual([
      '"BinaryName" = "/usr/sbin/runc"',
      '"Root" = "/var/lib/kcri/runtime/state/runc"',
      '"SystemdCgroup" = false',
    ]);
  });

  test('NRI, whose socket belongs to the machine, is disabled if containerd has it', () => {
    expect(section(configFor('1.6.20'), 'plugins', 'io.containerd.nri.v1.nri')).toEqual([]);
    expect(section(configFor('1.7.24'), 'plugins', 'io.containerd.nri.v1.nri')).toEqual(['"disable" = true']);
  });
});

describe('tomlText', () => {
  test('strings and keys are escaped', () => {
    const text = stringifyToml({'a "b"': 'tab\t quote" back\\slash \u007f', list: ['one', 'tw"o']});
    expect(text).toBe('"a \\"b\\"" = "tab\\t quote\\" back\\\\slash \\u007f"\n"list" = ["one", "tw\\"o"]');
  });

  test('values precede tables', () => {
    expect(stringifyToml({table: {deep: {x: 1}}, after: true})).toBe(
      '"after" = true\n\n["table"."deep"]\n"x" = 1',
    );
  });
});

describe('parseContainerdVersion', () => {
  test.each([
    ['containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3', '1.6.20~ds1'],
    ['containerd github.com/containerd/containerd/v2 2.1.9+unknown ', '2.1.9+unknown'],
    ['containerd containerd.io 1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da', '1.7.27'],
    ['containerd github.com/containerd/containerd/v2 v2.4.0-beta.1 abc', '2.4.0-beta.1'],
  ])('%s', (output, text) => {
    expect(parseContainerdVersion(output).text).toBe(text);
  });

  test.each(['containerd x 1.5.13', 'nonsense'])('"%s" is rejected', (output) => {
    expect(() => parseContainerdVersion(output)).toThrow(/too old|unexpected output/);
  });

  test('versions are compared numerically', () => {
    const version = parseContainerdVersion('containerd x 2.10.0');
    expect([
      isVersionBefore(version, 2, 4),
      isVersionBefore(version, 3, 0),
      configVersionOf(version),
    ]).toEqual([false, true, 4]);
  });
});
