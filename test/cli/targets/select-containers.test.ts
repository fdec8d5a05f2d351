import {describe, expect, test} from 'vitest';
import {selectContainers, parseContainerSelection} from '../../../src/cli/targets/select-containers.js';
import type {ContainerFilterValues} from '../../../src/cli/flags/filter-flags.js';
import {connect} from '../../../src/cri/index.js';
import {FakeRuntime, aContainer, aSandbox} from '../../fakes/fake-runtime.js';

const signal = new AbortController().signal;

async function chosen(
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

describe('chooseContainers', () => {
  test.each([
    ['words', ['web/main', 'api/main', 'nope'], {}, ['api/main', 'missing', 'web/main']],
    ['a pod', [], {pod: 'api'}, ['api/main']],
    ['a pod by its whole name', [], {pod: 'default/web'}, ['web/main']],
    ['a label', [], {label: ['app=web']}, ['web/main']],
    ['an image', [], {image: 'localhost:5000/busybox', name: 'probe'}, ['web/probe']],
    ['a word among the containers of a pod', ['main'], {pod: 'prod/api'}, ['api/main']],
    ['a word that is not in the pod', ['probe'], {pod: 'prod/api'}, ['missing']],
    ['neither', [], {}, []],
  ])('goes by %s', async (_, refs, flags, names) => {
    expect(await chosen(refs, flags)).toEqual(names);
  });

  test('looks at running containers alone unless all are wanted', async () => {
    expect(await chosen([], {label: ['app=web']}, 'all')).toEqual(['web/done', 'web/main']);
    expect(await chosen([], {label: ['app=web'], state: 'exited'})).toEqual(['web/done']);
  });

  test.each([
    ['a pod of several namespaces', [], {pod: 'web'}, '"web" matches 2 pods'],
    ['a word for several containers', ['main'], {}, '"main" matches 2 containers'],
    ['a pod that is not there', [], {pod: 'nope'}, 'no such pod "nope"'],
    ['filters that leave nothing', [], {label: ['app=nope']}, 'nothing found per filter'],
  ])('refuses %s', async (_, refs, flags, message) => {
    await expect(chosen(refs, flags)).rejects.toThrow(message);
  });
});
