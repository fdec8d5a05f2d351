import {expect, test} from 'vitest';
import {HistoryWriter, MAX_ADDED} from '../../../../src/kubelet/pods/history/history-writer.js';
import type {Occurrence} from '../../../../src/kubelet/pods/history/recorded-event.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

/** A place whose writes take a second each, and which notes what they were. */
class SlowPlace {
  readonly clock = new FakeClock();
  readonly writes: string[] = [];
  readonly failures: unknown[] = [];
  isFull = false;
  readonly writer = new HistoryWriter<{readonly phase: string}>({
    add: async (occurrences) => {
      await this.#write(`add ${reasons(occurrences)}`);
      return true;
    },
    merge: async (occurrences) => this.#write(`merge ${reasons(occurrences)}`),
    writeStatus: async ({phase}) => this.#write(`status ${phase}`),
    onFailure: (error) => void this.failures.push(error),
  });

  async #write(what: string): Promise<void> {
    await this.clock.sleep(1000);
    this.writes.push(what);
    if (this.isFull) throw new Error('full');
  }

  happen(...names: readonly string[]): void {
    for (const reason of names) this.writer.event({at: 0, type: 'Normal', reason, message: ''});
  }

  /** Lets all come to its end. */
  async end(): Promise<void> {
    for (let second = 0; second < 20; second += 1) await this.clock.advance(1000);
  }
}

function reasons(occurrences: readonly Occurrence[]): string {
  return occurrences.map(({reason}) => reason).join(' ');
}

test('what comes while a write is under way is written at once, of statuses the last one', async () => {
  const place = new SlowPlace();
  place.happen('a', 'b');
  await place.clock.advance(500);
  place.happen('c');
  place.writer.status({phase: 'Pending'});
  place.writer.status({phase: 'Running'});
  place.happen('d');
  await place.end();
  expect(place.writes).toEqual(['merge a b', 'status Running', 'add c d']);
});

test('events are merged when as many have been added as may be', async () => {
  const place = new SlowPlace();
  for (const batch of [['first'], Array<string>(MAX_ADDED - 1).fill('x'), ['last'], ['over'], ['next']]) {
    place.happen(...batch);
    await place.end();
  }
  expect(place.writes.map((write) => write.replaceAll(/ x\b/g, ''))).toEqual([
    'merge first',
    'add',
    'add last',
    'merge over',
    'add next',
  ]);
});

test('what fails is merged with what comes next, and told once until all is well again', async () => {
  const place = new SlowPlace();
  place.happen('a');
  await place.end();
  place.isFull = true;
  for (const name of ['b', 'c']) {
    place.happen(name);
    place.writer.status({phase: name});
    await place.end();
  }
  expect(place.failures).toHaveLength(1);
  place.isFull = false;
  const settled = place.writer.flush();
  await place.end();
  await settled;
  expect(place.writes.slice(-2)).toEqual(['merge b c', 'status c']);
  place.isFull = true;
  place.happen('d');
  await place.end();
  expect(place.failures).toHaveLength(2);
});

test('of events that can not be written only the last ones wait', async () => {
  const place = new SlowPlace();
  place.isFull = true;
  place.happen('first');
  await place.end();
  place.happen(...Array<string>(100).fill('later'));
  await place.end();
  place.isFull = false;
  void place.writer.flush();
  await place.end();
  expect(place.writes.at(-1)).toBe(`merge ${'later '.repeat(100).trim()}`);
});
