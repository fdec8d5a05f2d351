import {describe, expect, test} from 'vitest';
import {
  selectContainers,
  parseContainerSelection,
} from '../../../src/features/containers/select-containers.js';
import type {ContainerFilterValues} from '../../../src/features/containers/filter-flags.js';
import {connect} from '../../../src/cri/index.js';
import {FakeRuntime, aContainer, aSandbox} from '../../fakes/fake-runtime.js';

const signal = new AbortController().signal;

async function selectedNames(
  refs: readonly string[],
  flags: ContainerFilterValues,
  states: 'running' | 'all' = 'running',
): Promise<readonly string[]> {
  const [web, api] = [aSandbox({name: 'web'}), aSandbox({name: 'api', namespace: 'prod'})];
  const other = aSandbox({name: 'web', namespace: 'test'});
  await using runtime = await FakeRuntime.start({
    sandboxes: [web, api, other],
    containers: [
      aContainer({sandbox: web, name: 'main', labels: {app: 'web'}}),
      aContainer({sandbox: web, name: 'done', state: 'CONTAINER_EXITED', labels: {app: 'web'}}),
      aContainer({sandbox: api, name: 'main'}),
      aContainer({sandbox: other, name: 'probe'}),
    ],
  });
  using cri = connect(runtime.endpoint);
  const targets = await selectContainers(cri, await parseContainerSelection(refs, flags, {states}), {signal});
  const names = new Map(
    runtime.containers.map(({id, config}) => [
      id,
      `${config.labels['io.kubernetes.pod.name'] ?? ''}/${config.metadata?.name ?? ''}`,
    ]),
  );
  return targets
    .map((target) => (target.kind === 'found' ? (names.get(target.id) ?? '') : 'missing'))
    .toSorted();
}

describe('selectContainers', () => {
  test.each([
    ['references', ['web/main', 'api/main', 'nope'], {}, ['api/main', 'missing', 'web/main']],
    ['a pod', [], {pod: 'api'}, ['api/main']],
    ['a pod with its namespace', [], {pod: 'default/web'}, ['web/main']],
    ['a label', [], {label: ['app=web']}, ['web/main']],
    ['an image', [], {image: 'localhost:5000/busybox', name: 'probe'}, ['web/probe']],
    ['a reference within a pod', ['main'], {pod: 'prod/api'}, ['api/main']],
    ['a reference that the pod does not contain', ['probe'], {pod: 'prod/api'}, ['missing']],
    ['nothing', [], {}, []],
  ])('selects by %s', async (_, refs, flags, names) => {
    expect(await selectedNames(refs, flags)).toEqual(names);
  });

  test('selects only running containers by default', async () => {
    expect(await selectedNames([], {label: ['app=web']}, 'all')).toEqual(['web/done', 'web/main']);
    expect(await selectedNames([], {label: ['app=web'], state: 'exited'})).toEqual(['web/done']);
  });

  test.each([
    ['a pod name in several namespaces', [], {pod: 'web'}, '"web" matches 2 pods'],
    ['an ambiguous reference', ['main'], {}, '"main" matches 2 containers'],
    ['an unknown pod', [], {pod: 'nope'}, 'no such pod "nope"'],
    ['filters that match nothing', [], {label: ['app=nope']}, 'nothing found per filter'],
  ])('rejects %s', async (_, refs, flags, message) => {
    await expect(selectedNames(refs, flags)).rejects.toThrow(message);
  });
});
