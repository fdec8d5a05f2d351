import {expect, test} from 'vitest';
import {omit} from '../../../src/base/omit.js';
import {applyMessage, type LiveModel} from '../../../src/ui-page/model/live-model.js';
import {UsageHistory} from '../../../src/ui-page/model/usage-history.js';
import {aUiContainer, aUiHistory, aUiNode, aUiPod, UI_NOW_MS} from '../../fakes/ui/ui-builders.js';

const WEB = aUiPod();
const API = aUiPod({name: 'api'});

function aModel(): LiveModel {
  return applyMessage(undefined, {
    kind: 'state',
    nowMs: UI_NOW_MS,
    nodes: [aUiNode()],
    pods: [WEB, API],
    history: {},
  });
}

test('a state replaces everything', () => {
  const model = applyMessage(aModel(), {
    kind: 'state',
    nowMs: UI_NOW_MS + 1,
    nodes: [aUiNode({name: 'other'})],
    pods: [],
    history: {},
  });
  expect([...model.nodes.keys()]).toEqual(['node other']);
  expect(model.pods.size).toBe(0);
});

test('an update changes what it names, and leaves the model before as it was', () => {
  const before = aModel();
  const changed = {...WEB, state: 'Terminating'};
  const model = applyMessage(before, {
    kind: 'update',
    nowMs: UI_NOW_MS + 2000,
    nodes: [],
    pods: [changed],
    removed: [API.key],
  });
  expect([...model.pods.values()]).toEqual([changed]);
  expect([...model.nodes.keys()]).toEqual(['node node-1']);
  expect(model.nowMs).toBe(UI_NOW_MS + 2000);
  expect([...before.pods.values()]).toEqual([WEB, API]);
});

test('usage that an update names replaces that of a pod and its containers, and other pods stay the same objects', () => {
  const before = aModel();
  const model = applyMessage(before, {
    kind: 'update',
    nowMs: UI_NOW_MS + 2000,
    usage: {[WEB.key]: [3, 40, 1, null], gone: [1, 1]},
  });
  expect(model.pods.get(WEB.key)).toEqual({
    ...WEB,
    cpuPercent: 3,
    memoryBytes: 40,
    containers: [{...WEB.containers[0]!, cpuPercent: 1, memoryBytes: undefined}],
  });
  expect(model.pods.get(API.key)).toBe(before.pods.get(API.key));
  expect(model.nodes).toBe(before.nodes);
  expect(model.pods.size).toBe(2);
});

test('an update of the time alone changes nothing else', () => {
  const before = aModel();
  const model = applyMessage(before, {kind: 'update', nowMs: UI_NOW_MS + 2000});
  expect(model).toEqual({...before, nowMs: UI_NOW_MS + 2000});
  expect([model.pods, model.nodes]).toEqual([before.pods, before.nodes]);
  expect(model.pods).toBe(before.pods);
});

test('the history goes on with the values of each update, and forgets rows that are gone', () => {
  const history = new UsageHistory();
  history.replace({[WEB.key]: aUiHistory({cpu: 1, memory: 2}, 2), gone: aUiHistory({cpu: 1, memory: 2}, 2)});
  history.record(aModel());
  expect(history.last(WEB.key, 'cpu', 2)).toEqual([expect.any(Number), WEB.cpuPercent]);
  expect(history.of(WEB.key)?.timesMs.at(-1)).toBe(UI_NOW_MS);
  expect(history.last(API.key, 'memory', 5)).toEqual([API.memoryBytes]);
  expect(history.of('gone')).toBeUndefined();
});

test('unknown usage leaves a gap, and a pod of a node that does not answer is not measured', () => {
  const unknown = omit(WEB, 'cpuPercent');
  const history = new UsageHistory();
  history.record({
    nowMs: UI_NOW_MS,
    nodes: new Map([['node node-1', aUiNode({failure: 'connection refused'})]]),
    pods: new Map([
      [WEB.key, unknown],
      [API.key, {...API, isStale: true, containers: [aUiContainer(API.key)]}],
    ]),
  });
  expect(history.last(WEB.key, 'cpu', 1)).toEqual([null]);
  expect(history.of(API.key)).toBeUndefined();
  expect(history.of('node node-1')).toBeUndefined();
});

test('the later measurement of a node is no further sample', () => {
  const history = new UsageHistory();
  history.record(aModel());
  const measured = aUiNode({cpuPercent: 77});
  history.record({...aModel(), nodes: new Map([[measured.key, measured]])});
  expect(history.of(measured.key)).toMatchObject({timesMs: [UI_NOW_MS], cpuPercent: [77]});
  expect(history.of(WEB.key)).toMatchObject({timesMs: [UI_NOW_MS], cpuPercent: [WEB.cpuPercent]});
});

test('the history has a limit', () => {
  const history = new UsageHistory();
  for (let index = 0; index < 1000; index += 1) history.record({...aModel(), nowMs: index});
  expect(history.of(WEB.key)?.timesMs).toHaveLength(900);
  expect(history.of(WEB.key)?.timesMs[0]).toBe(100);
});
