import {expect, test} from 'vitest';
import {StartGate} from '../../../src/kubelet/cluster/start-gate.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {FakeStarts} from './fake-starts.js';

const never = new AbortController().signal;

/** Reports when the gate opens. */
function whenOpens(gate: StartGate, signal = never): {readonly isOpen: boolean} {
  const seen = {isOpen: false};
  void gate.whenOpen(signal).then(
    () => {
      seen.isOpen = true;
    },
    () => undefined, // aborted
  );
  return seen;
}

test('the gate is closed while pods wait for their turn to start', async () => {
  const clock = new FakeClock();
  const starts = new FakeStarts();
  const gate = new StartGate(starts, clock);
  expect(gate.isClosed).toBe(false);
  await gate.whenOpen(never);
  starts.begin();
  expect(gate.isClosed).toBe(true);
  const seen = whenOpens(gate);
  await clock.advance(9000);
  expect(seen.isOpen).toBe(false);
  starts.end();
  await clock.advance(0);
  expect({...seen, isClosed: gate.isClosed}).toEqual({isOpen: true, isClosed: false});
});

test('after ten seconds it holds back nothing, until no pod has waited', async () => {
  const clock = new FakeClock();
  const starts = new FakeStarts();
  const gate = new StartGate(starts, clock);
  starts.begin();
  const seen = whenOpens(gate);
  await clock.advance(4000);
  const late = whenOpens(gate);
  await clock.advance(6000);
  expect([seen.isOpen, late.isOpen, gate.isClosed]).toEqual([true, true, false]);
  await clock.advance(60_000);
  expect(gate.isClosed).toBe(false);
  starts.end();
  expect(gate.isClosed).toBe(false);
  starts.begin();
  expect(gate.isClosed).toBe(true);
});

test('a clock that is set back delays nothing by more than ten seconds', async () => {
  const clock = new FakeClock();
  await clock.advance(3_600_000);
  const starts = new FakeStarts();
  const gate = new StartGate(starts, clock);
  starts.begin();
  expect(gate.isClosed).toBe(true);
  clock.jump(-3_000_000);
  expect(gate.isClosed).toBe(true);
  await clock.advance(10_000);
  expect(gate.isClosed).toBe(false);
});

test('the wait ends with the reason of the signal', async () => {
  const starts = new FakeStarts();
  const gate = new StartGate(starts, new FakeClock());
  starts.begin();
  const caller = new AbortController();
  const wait = gate.whenOpen(caller.signal);
  caller.abort(new Error('enough'));
  await expect(wait).rejects.toThrow('enough');
});
