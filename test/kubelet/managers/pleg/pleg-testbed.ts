import {connect, type PodUid} from '../../../../src/cri/index.js';
import type {Pleg, PodLifecycleEvent} from '../../../../src/kubelet/contract/pleg.js';
import {EventedPleg, type EventedPlegOptions} from '../../../../src/kubelet/managers/pleg/evented-pleg.js';
import {GenericPleg} from '../../../../src/kubelet/managers/pleg/generic-pleg.js';
import type {PlegNotice} from '../../../../src/kubelet/managers/pleg/pleg-notice.js';
import type {FakeRuntime} from '../../../fakes/fake-runtime.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

/** Options of a PLEG testbed. */
export interface PlegTestbedOptions {
  readonly isManaged?: (uid: PodUid) => boolean;
  /** Returns the capacity of the event queue. */
  readonly room?: () => number;
  readonly signal?: AbortSignal;
  /** Replaces the events of the fake runtime. */
  readonly getContainerEvents?: EventedPlegOptions['runtime']['getContainerEvents'];
}

/** A PLEG with a fake runtime and a manual clock. */
export interface PlegTestbed<T extends Pleg> extends AsyncDisposable {
  readonly pleg: T;
  readonly clock: FakeClock;
  readonly events: PodLifecycleEvent[];
  readonly notices: PlegNotice[];
  /** Returns the number of relists with the outcome; default `relisted`. */
  relists(outcome?: 'relisted' | 'relist-failed'): number;
  /** Advances the clock until the next relist has finished; resolves with the number of seconds. */
  nextRelist(outcome?: 'relisted' | 'relist-failed'): Promise<number>;
}

export const startGenericPleg = (
  runtime: FakeRuntime,
  seed?: PlegTestbedOptions,
): Promise<PlegTestbed<GenericPleg>> => start(runtime, (options) => new GenericPleg(options), seed);

export const startEventedPleg = (
  runtime: FakeRuntime,
  seed?: PlegTestbedOptions,
): Promise<PlegTestbed<EventedPleg>> => start(runtime, (options) => new EventedPleg(options), seed);

/** Starts a PLEG and waits for the end of its first relist. */
async function start<T extends Pleg>(
  runtime: FakeRuntime,
  make: (options: EventedPlegOptions) => T,
  {isManaged = () => true, room = () => Infinity, signal, getContainerEvents}: PlegTestbedOptions = {},
): Promise<PlegTestbed<T>> {
  const connection = connect(runtime.endpoint);
  const stop = new AbortController();
  const clock = new FakeClock();
  const events: PodLifecycleEvent[] = [];
  const notices: PlegNotice[] = [];
  const pleg = make({
    runtime:
      getContainerEvents === undefined ? connection.runtime : {...connection.runtime, getContainerEvents},
    clock,
    isManaged,
    push: (event) => events.length < room() && events.push(event) > 0,
    onNotice: (notice) => notices.push(notice),
    signal: signal ?? stop.signal,
  });
  const ended = pleg.run();
  const relists = (outcome = 'relisted'): number => notices.filter(({kind}) => kind === outcome).length;
  const nextRelist = async (outcome?: 'relisted' | 'relist-failed'): Promise<number> => {
    const before = relists(outcome);
    let seconds = 0;
    await until(async () => {
      if (relists(outcome) === before && clock.sleeping > 0) {
        await clock.advance(1000);
        seconds += 1;
      }
      return relists(outcome) > before;
    });
    return seconds;
  };
  await until(() => relists() + relists('relist-failed') > 0);
  return {
    pleg,
    clock,
    events,
    notices,
    relists,
    nextRelist,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
      connection.close();
    },
  };
}

/** Formats each event as `TYPE ID`. */
export const formatEvents = (events: readonly PodLifecycleEvent[]): string[] =>
  events.map(({type, id = ''}) => `${type} ${id}`.trim());
