import {readFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, test} from 'vitest';
import {fetchFromSuite} from '../../scripts/debian-suite.mjs';
import {factsOfGo, factsOfProto} from './proto-facts.js';

const OURS = fileURLToPath(new URL('../../proto/runtime/v1/api.proto', import.meta.url));
const PUBLISHED = 'usr/share/gocode/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.pb.go';

/** What CRI 0.37 adds to 0.36, the version that Debian had in 2026: all that we may have and it may not. */
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

/** CRI 0.37 gave the values of Signal a prefix; their numbers, which are all that is on the wire, stayed. */
const renamed = (fact: string): string => fact.replace(/^value Signal\.(?!SIGNAL_)/, 'value Signal.SIGNAL_');

/** The published interface: Debian's package of cri-api, unpacked outside the checkout and kept. */
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
  test('every message, field, enum and RPC is as published, and what is newer is listed', async ({
    expect,
    skip,
  }) => {
    const theirs = await published().catch((error: unknown) => {
      if (process.env['CI'] !== undefined) throw error;
      return skip(`the published interface is not at hand: ${String(error)}`);
    });
    const ours = factsOfProto(OURS);
    const missing = [...theirs].filter((fact) => !ours.has(fact));
    const newer = [...ours].filter((fact) => !theirs.has(fact));
    expect(missing).toEqual([]);
    expect(newer).toEqual(NEWER_THAN_PUBLISHED.filter((fact) => !theirs.has(fact)));
    expect(theirs.size).toBeGreaterThan(750);
  }, 120_000);

  test('no two messages or enums share a name', ({expect}) => {
    const names = [...factsOfProto(OURS)].flatMap((fact) => /^(?:message|enum) (.+)$/.exec(fact)?.[1] ?? []);
    expect(names.length).toBe(new Set(names).size);
    expect(names.filter((name) => !/^[A-Za-z0-9]+$/.test(name))).toEqual([]);
  });

  test('every message, enum and RPC says what it is for', async ({expect}) => {
    const lines = (await readFile(OURS, 'utf8')).split('\n');
    const bare = lines.filter(
      (line, index) =>
        /^\s*(message|enum|service|rpc) /.test(line) && !lines[index - 1]?.trim().startsWith('// '),
    );
    expect(bare).toEqual([]);
  });
});
