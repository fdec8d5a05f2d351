import {readFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, test} from 'vitest';
import {fetchFromSuite} from '../../scripts/test-runtimes/debian-suite.mjs';
import {factsOfGo, factsOfProto} from './proto-facts.js';

const API_PROTO = fileURLToPath(new URL('../../proto/runtime/v1/api.proto', import.meta.url));
const PUBLISHED = 'usr/share/gocode/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.pb.go';

/** The additions of CRI 0.37 to 0.36, the version in Debian in 2026: all differences that are allowed. */
const NEWER_THAN_PUBLISHED: readonly string[] = [
  'field Mount.mount_options = 11: repeated string',
  'field RuntimeFeatures.mount_options = 3: bool',
  'message CheckpointPodRequest',
  'field CheckpointPodRequest.pod_sandbox_id = 1: string',
  'field CheckpointPodRequest.output_path = 2: string',
  'field CheckpointPodRequest.container_ids = 3: repeated string',
  'field CheckpointPodRequest.options = 4: map<string, string>',
  'message CheckpointPodResponse',
  'message RestorePodRequest',
  'field RestorePodRequest.checkpoint_path = 1: string',
  'field RestorePodRequest.config = 2: message PodSandboxConfig',
  'field RestorePodRequest.runtime_handler = 3: string',
  'field RestorePodRequest.options = 4: map<string, string>',
  'field RestorePodRequest.container_configs = 5: repeated message ContainerConfig',
  'message RestoredContainer',
  'field RestoredContainer.name = 1: string',
  'field RestoredContainer.container_id = 2: string',
  'message RestorePodResponse',
  'field RestorePodResponse.pod_sandbox_id = 1: string',
  'field RestorePodResponse.restored_containers = 2: repeated message RestoredContainer',
  'rpc RuntimeService.CheckpointPod(CheckpointPodRequest) returns (CheckpointPodResponse)',
  'rpc RuntimeService.RestorePod(RestorePodRequest) returns (RestorePodResponse)',
];

/**
 * Renames Signal values as in CRI 0.37, which added a prefix; their numbers, which are on the wire, did not change.
 */
const renamed = (fact: string): string => fact.replace(/^value Signal\.(?!SIGNAL_)/, 'value Signal.SIGNAL_');

/** Returns the published interface from Debian's package of cri-api, cached outside the checkout. */
async function published(): Promise<Set<string>> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const directory = await fetchFromSuite({
    suites: ['forky', 'sid'],
    package: 'golang-k8s-cri-api-dev',
    into: join(cache, 'kcri-test'),
  });
  return new Set([...factsOfGo(await readFile(join(directory, PUBLISHED), 'utf8'))].map(renamed));
}

describe('proto/runtime/v1/api.proto', () => {
  test('every message, field, enum and RPC is as published, and newer ones are listed', async ({
    expect,
    skip,
  }) => {
    const expected = await published().catch((error: unknown) => {
      if (process.env['CI'] !== undefined) throw error;
      return skip(`the published interface is unavailable: ${String(error)}`);
    });
    const actual = factsOfProto(API_PROTO);
    const missing = [...expected].filter((fact) => !actual.has(fact));
    const newer = [...actual].filter((fact) => !expected.has(fact));
    expect(missing).toEqual([]);
    expect(newer).toEqual(NEWER_THAN_PUBLISHED.filter((fact) => !expected.has(fact)));
    expect(expected.size).toBeGreaterThan(750);
  });

  test('no two messages or enums share a name', ({expect}) => {
    const names = [...factsOfProto(API_PROTO)].flatMap(
      (fact) => /^(?:message|enum) (.+)$/.exec(fact)?.[1] ?? [],
    );
    expect(names.length).toBe(new Set(names).size);
    expect(names.filter((name) => !/^[A-Za-z0-9]+$/.test(name))).toEqual([]);
  });

  test('every message, enum and RPC has a comment', async ({expect}) => {
    const lines = (await readFile(API_PROTO, 'utf8')).split('\n');
    const bare = lines.filter(
      (line, index) =>
        /^\s*(message|enum|service|rpc) /.test(line) && !lines[index - 1]?.trim().startsWith('// '),
    );
    expect(bare).toEqual([]);
  });
});
