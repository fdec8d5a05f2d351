import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../src/api/types/v1-pod.js';
import type {ObjectMeta} from '../../../src/api/types/v1-meta.js';
import type {PodPhase, PodStatus} from '../../../src/api/types/v1-status.js';
import {podUid, type PodUid} from '../../../src/cri/index.js';
import {diffPods, PodMux} from '../../../src/kubelet/sources/pod-mux.js';
import type {PodEvent} from '../../../src/kubelet/contract/pod-event.js';
import type {DesiredPod, PodSourceName, PodUpdate} from '../../../src/kubelet/contract/pod-update.js';
import {aPod} from '../../fakes/a-pod.js';

const SEEN = 'kubernetes.io/config.seen';
const SOURCE = 'kubernetes.io/config.source';
const LATER = {source: 'file', seen: 'later'} as const;

interface PodFields {
  readonly spec?: Partial<PodSpec>;
  readonly metadata?: ObjectMeta;
  readonly status?: PodStatus;
}

/** Returns a desired pod whose name is its UID. */
function desiredPod(uid: string, {spec = {}, metadata = {}, status}: PodFields = {}): DesiredPod {
  const pod: Pod = aPod(spec, {name: uid, uid, ...metadata});
  return {uid: podUid(uid), origin: `/m/${uid}.yaml`, pod: status === undefined ? pod : {...pod, status}};
}

function knownPods(...pods: readonly DesiredPod[]): ReadonlyMap<PodUid, DesiredPod> {
  return diffPods(new Map(), pods, {source: 'file', seen: 'first'}).known;
}

/** Returns the operations with their pods: `ADD a b`. */
function changesOf(pods: ReturnType<typeof diffPods>['pods']): readonly string[] {
  return Object.entries(pods).flatMap(([op, some]) =>
    some.length === 0 ? [] : [[op, ...some.map(({uid}) => uid)].join(' ')],
  );
}

describe('a known pod', () => {
  const deleted = '2026-05-01T12:00:00Z';
  test.each<[string, PodFields, readonly string[]]>([
    ['without changes', {}, []],
    ['with another spec', {spec: {hostname: 'h'}}, ['UPDATE a']],
    ['with another label', {metadata: {labels: {x: '2'}}}, ['UPDATE a']],
    ['with another annotation', {metadata: {annotations: {note: '2'}}}, ['UPDATE a']],
    ['with other annotations of the kubelet', {metadata: {annotations: {[SEEN]: 'x', [SOURCE]: 'y'}}}, []],
    ['with another status', {status: {phase: 'Failed'}}, ['RECONCILE a']],
    ['with another spec and status', {spec: {hostname: 'h'}, status: {phase: 'Failed'}}, ['UPDATE a']],
    ['that is being deleted', {metadata: {deletionTimestamp: deleted}}, ['DELETE a']],
    ['with another generation', {metadata: {generation: 7}}, []],
  ])('%s gets the expected operation', (_title, fields, expected) => {
    expect(changesOf(diffPods(knownPods(desiredPod('a')), [desiredPod('a', fields)], LATER).pods)).toEqual(
      expected,
    );
  });

  test('that loses a label and an annotation is updated', () => {
    const known = knownPods(desiredPod('a', {metadata: {labels: {x: '1'}, annotations: {note: '1'}}}));
    expect(changesOf(diffPods(known, [desiredPod('a')], LATER).pods)).toEqual(['UPDATE a']);
  });

  test('whose grace period becomes shorter during deletion is deleted again', () => {
    const at = (seconds: number): PodFields => ({
      metadata: {deletionTimestamp: deleted, deletionGracePeriodSeconds: seconds},
    });
    expect(
      changesOf(diffPods(knownPods(desiredPod('a', at(30))), [desiredPod('a', at(1))], LATER).pods),
    ).toEqual(['DELETE a']);
  });

  test('that changes retains the time at which it was first seen', () => {
    const {known} = diffPods(
      knownPods(desiredPod('a')),
      [desiredPod('a', {spec: {hostname: 'h'}}), desiredPod('b')],
      LATER,
    );
    expect([...known.values()].map(({pod}) => pod.metadata.annotations)).toEqual([
      {[SEEN]: 'first', [SOURCE]: 'file'},
      {[SEEN]: 'later', [SOURCE]: 'file'},
    ]);
  });

  test('that is no longer desired is removed', () => {
    const {pods, known} = diffPods(
      knownPods(desiredPod('a'), desiredPod('b')),
      [desiredPod('b'), desiredPod('c')],
      LATER,
    );
    expect(changesOf(pods)).toEqual(['ADD c', 'REMOVE a']);
    expect([...known.keys()]).toEqual(['b', 'c']);
  });
});

interface Mux {
  readonly mux: PodMux;
  readonly updates: PodUpdate[];
  readonly events: PodEvent[];
  /** Returns the updates since the last call: `file ADD a b`. */
  readonly takeUpdates: () => readonly string[];
}

function createMux(sources: readonly PodSourceName[] = ['file']): Mux {
  const updates: PodUpdate[] = [];
  const events: PodEvent[] = [];
  const mux = new PodMux({
    sources,
    clock: {now: () => 0},
    events: (event) => void events.push(event),
    deliver: (update) => void updates.push(update),
  });
  const takeUpdates = (): readonly string[] =>
    updates.splice(0).map(({op, source, pods}) => [source, op, ...pods.map(({uid}) => uid)].join(' '));
  return {mux, updates, events, takeUpdates};
}

describe('updates', () => {
  test('of one set are delivered by operation, removals first', () => {
    const {mux, takeUpdates} = createMux();
    mux.set('file', [
      desiredPod('removed'),
      desiredPod('changed'),
      desiredPod('deleted'),
      desiredPod('running'),
    ]);
    expect(takeUpdates()).toEqual(['file ADD removed changed deleted running']);

    mux.set('file', [
      desiredPod('running', {status: {phase: 'Running'}}),
      desiredPod('deleted', {metadata: {deletionTimestamp: '2026-05-01T12:00:00Z'}}),
      desiredPod('changed', {spec: {hostname: 'h'}}),
      desiredPod('new'),
    ]);
    expect(takeUpdates()).toEqual([
      'file REMOVE removed',
      'file ADD new',
      'file UPDATE changed',
      'file DELETE deleted',
      'file RECONCILE running',
    ]);
  });

  test('of an empty first set are an ADD without pods, so that the source is ready', () => {
    const {mux, takeUpdates} = createMux();
    mux.set('file', []);
    expect(takeUpdates()).toEqual(['file ADD']);
    mux.set('file', []);
    expect(takeUpdates()).toEqual([]);
  });

  test('of one source do not affect the pods of another', () => {
    const {mux, takeUpdates} = createMux(['file', 'http']);
    mux.set('file', [desiredPod('a')]);
    mux.set('http', [desiredPod('b')]);
    mux.set('file', []);
    expect(takeUpdates()).toEqual(['file ADD a', 'http ADD b', 'file REMOVE a']);
  });

  test('annotate a pod with its source and the time at which it was first seen', () => {
    const {mux, updates} = createMux();
    mux.set('file', [desiredPod('a')]);
    expect(updates[0]?.pods[0]?.pod.metadata.annotations).toEqual({
      [SEEN]: '1970-01-01T00:00:00.000Z',
      [SOURCE]: 'file',
    });
  });
});

test('the first of two pods with the same full name is used, and the other gets an event', () => {
  const {mux, takeUpdates, events} = createMux();
  const webPod = (uid: string, namespace = 'default'): DesiredPod =>
    desiredPod(uid, {metadata: {name: 'web', namespace}});
  mux.set('file', [webPod('a'), webPod('b'), webPod('c', 'other')]);
  expect(takeUpdates()).toEqual(['file ADD a c']);
  expect(events).toMatchObject([
    {
      type: 'Warning',
      reason: 'FailedValidation',
      message: 'Error validating pod web_default(b) from file due to duplicate pod name "web", ignoring',
    },
  ]);
});

test('the first of two pods with the same UID is used', () => {
  const {mux, takeUpdates, events} = createMux();
  mux.set('file', [desiredPod('a'), desiredPod('a', {metadata: {name: 'other'}})]);
  expect(takeUpdates()).toEqual(['file ADD a']);
  expect(events.map(({message}) => message)).toEqual([
    'Error validating pod other_default(a) from file due to duplicate pod UID "a", ignoring',
  ]);
});

test('all sources are seen when each was set and its updates were handled', () => {
  const {mux} = createMux(['file', 'http']);
  const seen = (...handled: readonly PodSourceName[]): boolean => mux.seenAllSources(new Set(handled));
  expect(seen('file', 'http')).toBe(false);
  mux.set('file', [desiredPod('a')]);
  expect(seen('file', 'http')).toBe(false);
  mux.set('http', []);
  expect([seen('file', 'http'), seen('file'), seen()]).toEqual([true, false, false]);
});

/** Applies an update to the state of a listener. */
function apply(state: Map<string, DesiredPod>, {op, pods}: PodUpdate): void {
  for (const desired of pods) {
    const known = state.has(desired.uid);
    if (known === (op === 'ADD'))
      throw new Error(`${op} of ${desired.uid}, which was ${known ? '' : 'not '}known`);
    if (op === 'REMOVE') state.delete(desired.uid);
    else state.set(desired.uid, desired);
  }
}

test('a listener that applies the updates of any sequence of sets has the last set', () => {
  const fieldsArbitrary = fc.record({
    uid: fc.constantFrom('a', 'b', 'c', 'd'),
    hostname: fc.constantFrom('x', 'y'),
    label: fc.constantFrom('1', '2'),
    phase: fc.constantFrom<PodPhase>('Pending', 'Running'),
    deleted: fc.boolean(),
  });
  const sets = fc.array(fc.uniqueArray(fieldsArbitrary, {selector: ({uid}) => uid}), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(sets, (sequence) => {
      const {mux, updates} = createMux();
      const state = new Map<string, DesiredPod>();
      for (const set of sequence) {
        const pods = set.map(({uid, hostname, label, phase, deleted}) =>
          desiredPod(uid, {
            spec: {hostname},
            metadata: {labels: {label}, ...(deleted && {deletionTimestamp: '2026-05-01T12:00:00Z'})},
            status: {phase},
          }),
        );
        mux.set('file', pods);
        for (const update of updates.splice(0)) apply(state, update);
        const actual = [...state.values()].map(({pod}) => ({
          ...pod,
          metadata: {...pod.metadata, annotations: 0},
        }));
        const expected = pods.map(({pod}) => ({...pod, metadata: {...pod.metadata, annotations: 0}}));
        expect(byName(actual)).toEqual(byName(expected));
      }
    }),
  );
});

function byName<T extends {readonly metadata: {readonly name?: string}}>(pods: readonly T[]): readonly T[] {
  return pods.toSorted((a, b) => (a.metadata.name ?? '').localeCompare(b.metadata.name ?? ''));
}
