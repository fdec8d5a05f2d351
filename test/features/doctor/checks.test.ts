import {readFile} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import type {Result} from '../../../src/features/doctor/check.js';
import type {Fact} from '../../../src/features/doctor/fact.js';
import type {NodeSnapshot} from '../../../src/features/doctor/node-snapshot.js';
import {CHECKS, runChecks, selectChecks, worstOf} from '../../../src/features/doctor/run-checks.js';
import {GOOD_NODE} from './a-node.js';
import {BAD_NODES} from './bad-nodes.js';
import {BAD_RUNTIMES} from './bad-runtimes.js';

const {files} = GOOD_NODE;
const ALL_BAD = [...BAD_RUNTIMES, ...BAD_NODES];
const missing: Fact<never> = {error: 'no such file or directory', isMissing: true};

const examine = (id: string, node: NodeSnapshot) => runChecks(selectChecks([id]), node)[0];

describe('checks', () => {
  test.each(CHECKS.map(({id}) => id))('%s is ok on a good node', (id) => {
    expect(examine(id, GOOD_NODE)).toMatchObject({id, result: 'ok', details: [], remedy: []});
  });

  test.each(ALL_BAD)('%s finds a bad node (%#)', (id, node, result, said) => {
    const found = examine(id, {...GOOD_NODE, ...node});
    const {message = '', reason = '', details = [], remedy = []} = found ?? {};
    expect(found).toMatchObject({result});
    expect([message, reason, ...details].filter((text) => text !== '').join(' ')).toMatch(said);
    if (result !== 'skipped') expect(remedy).not.toEqual([]);
  });

  test('each check has a bad node', () => {
    const found = new Set(ALL_BAD.filter(([, , result]) => result !== 'skipped').map(([id]) => id));
    expect(CHECKS.map(({id}) => id).filter((id) => !found.has(id))).toEqual([]);
  });

  test('docs/design/doctor.md lists the checks', async () => {
    const text = await readFile('docs/design/doctor.md', 'utf8');
    const rows = [...text.matchAll(/^\| `(\w+\/[\w-]+)` \| ([^|]*) \|/gm)].map(([, id, title]) => ({
      id,
      title,
    }));
    expect(rows).toEqual(CHECKS.map(({id, title}) => ({id, title})));
  });

  test('problems that are older than a day are not recent', () => {
    const node = {
      ...GOOD_NODE,
      kernelLog: {value: [{at: '2026-11-20T00:00:00.000Z', text: 'Killed process 7 (java)'}]},
    };
    expect(examine('kernel/oom-kills', node)).toMatchObject({result: 'ok'});
  });

  test('the directory of a pod that is starting is no leftover', () => {
    const pods = {value: [{uid: 'new', modifiedAt: '2026-11-27T11:59:30.000Z'}]};
    const node = {...GOOD_NODE, podDirs: [{rootDir: '/r', pods, records: {value: []}}]};
    expect(examine('leftovers/pod-directories', node)).toMatchObject({result: 'ok'});
  });

  test('mounts below the directory of an orphaned pod are leftovers, wherever the root directory is', () => {
    const pods = {value: [{uid: 'gone', modifiedAt: '2026-11-20T00:00:00.000Z'}]};
    const mount = (path: string) => ({path, fileSystem: 'tmpfs', source: 'tmpfs', isReadOnly: false});
    const paths = ['/srv/pods/kcri/pods/gone/volumes/data', '/srv/pods/kcri/pods/gone-too/volumes/data'];
    const node = {
      ...GOOD_NODE,
      podDirs: [{rootDir: '/srv/pods/kcri', pods, records: {value: []}}],
      mounts: {value: paths.map(mount)},
    };
    expect(examine('leftovers/mounts', node)).toMatchObject({
      details: ['/srv/pods/kcri/pods/gone/volumes/data (tmpfs)'],
      remedy: ['umount /srv/pods/kcri/pods/gone/volumes/data'],
    });
  });

  test('a path in a command for the shell is quoted', () => {
    const path = '/var/log/pods/a_$(reboot)_1/x; reboot/0.log';
    const podLogs = {
      value: {directory: '/var/log/pods', count: 1, isComplete: true, largest: [{path, bytes: 1e9}]},
    };
    const remedy = examine('disk/pod-logs', {...GOOD_NODE, podLogs})?.remedy;
    expect(remedy?.at(-1)).toBe(`truncate -s 0 '${path}'`);
  });

  test('the controllers of cgroup v1 are those that are mounted', () => {
    const names = ['cpu', 'cpuset', 'memory', 'pids'];
    const node: NodeSnapshot = {
      ...GOOD_NODE,
      files: {
        ...files,
        '/sys/fs/cgroup/cgroup.controllers': missing,
        '/proc/cgroups': {value: names.map((name) => `${name}\t1\t1\t1`).join('\n')},
      },
      mounts: {
        value: names.map((name) => ({
          path: `/sys/fs/cgroup/${name}`,
          fileSystem: 'cgroup',
          source: '',
          isReadOnly: false,
        })),
      },
    };
    expect(examine('cgroups/controllers', node)).toMatchObject({result: 'ok'});
    const [, ...others] = 'value' in node.mounts ? node.mounts.value : [];
    expect(examine('cgroups/controllers', {...node, mounts: {value: others}})).toMatchObject({
      message: '1 controller missing: cpu',
    });
  });

  test('5,000 pods are well, and one leftover among them is found', () => {
    const uids = Array.from({length: 5000}, (_, index) => `uid-${index}`);
    const modifiedAt = '2026-11-27T10:00:00.000Z';
    const id = (uid: string): string => uid.replace('uid-', 's');
    const sandboxes = uids.map((uid) => ({id: id(uid), namespace: 'x', name: uid, uid, isReady: true}));
    const containers = uids.map((uid) => ({
      ...{id: `c-${uid}`, name: 'main', sandboxId: id(uid)},
      ...{state: 'CONTAINER_RUNNING', images: ['app:1']},
    }));
    const node: NodeSnapshot = {
      ...GOOD_NODE,
      runtime: {...GOOD_NODE.runtime, sandboxes: {value: sandboxes}, containers: {value: containers}},
      podCgroups: {value: [...uids, 'gone'].map((uid) => ({uid, path: `/c/pod${uid}`, modifiedAt}))},
      podDirs: [
        {
          rootDir: '/r',
          pods: {value: [...uids, 'gone'].map((uid) => ({uid, modifiedAt}))},
          records: {value: uids},
        },
      ],
    };
    const bad = runChecks(CHECKS, node).filter(({result}) => result !== 'ok');
    expect(bad.map(({id, message}) => `${id}: ${message}`)).toEqual([
      'leftovers/pod-directories: 1 directory of pods without a sandbox',
      'leftovers/cgroups: 1 cgroup of pods without a sandbox',
    ]);
  });

  test('a snapshot is the same after JSON', () => {
    expect(JSON.parse(JSON.stringify(GOOD_NODE))).toEqual(GOOD_NODE);
  });

  test('the worst result counts, and skipped ones do not', () => {
    const results = runChecks(CHECKS, GOOD_NODE);
    const [first] = results;
    const only = (result: Result) => worstOf(first === undefined ? [] : [{...first, result}, ...results]);
    expect((['ok', 'skipped', 'warning', 'failure'] as const).map(only)).toEqual([
      'ok',
      'ok',
      'warning',
      'failure',
    ]);
  });
});

describe('selectChecks', () => {
  test('areas and IDs select checks in the order of the output', () => {
    expect(selectChecks(['time', 'memory/swap']).map(({id}) => id)).toEqual([
      'memory/swap',
      'time/synchronization',
      'time/api-server',
    ]);
    expect(selectChecks([])).toEqual(CHECKS);
  });

  test('an unknown word is rejected with the closest one', () => {
    expect(() => selectChecks(['netwrk'])).toThrow('unknown check "netwrk"');
    expect(() => selectChecks([''])).toThrow('--only must not be empty');
  });
});
