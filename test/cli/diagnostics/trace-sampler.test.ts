import {ROOT_CONTEXT, SpanKind, trace, TraceFlags, type Context} from '@opentelemetry/api';
import {SamplingDecision} from '@opentelemetry/sdk-trace-base';
import {describe, expect, test} from 'vitest';
import {traceSampler} from '../../../src/cli/diagnostics/trace-sampler.js';

/** Reports whether a trace is sampled at a rate per million. */
function isSampled(perMillion: number, traceId: string, parent: Context = ROOT_CONTEXT): boolean {
  const {decision} = traceSampler(perMillion).shouldSample(parent, traceId, 'x', SpanKind.INTERNAL, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

const ZEROS = '0'.repeat(16);
const ONES = 'f'.repeat(16);

describe('a trace is sampled if half of the number in its last eight bytes is below the rate of 2^63', () => {
  // The last number that is sampled, and the next: 2 * int(rate / 1e6 * 2^63) - 1 and without - 1, with Go's float64.
  test.each([
    [1, '000010c6f7a0b5eb', '000010c6f7a0b5ec'],
    [10_000, '028f5c28f5c28f5f', '028f5c28f5c28f60'],
    [250_000, '3fffffffffffffff', '4000000000000000'],
    [500_000, '7fffffffffffffff', '8000000000000000'],
    [999_999, 'ffffef39085f47ff', 'ffffef39085f4800'],
  ])('at %d per million up to %s', (perMillion, last, next) => {
    for (const first of [ZEROS, ONES])
      expect([last, next].map((rest) => isSampled(perMillion, `${first}${rest}`))).toEqual([true, false]);
  });

  test.each([
    [0, false],
    [1_000_000, true],
  ])('at %d per million: %s, whatever the number', (perMillion, expected) => {
    for (const rest of ['0000000000000001', ONES])
      expect(isSampled(perMillion, `${ZEROS}${rest}`)).toBe(expected);
  });
});

describe('a span with a parent is sampled as its parent, whatever the rate and the trace ID', () => {
  const traceIds = [`${ONES}0000000000000001`, `${ZEROS}${ONES}`];
  test.each(
    [TraceFlags.SAMPLED, TraceFlags.NONE].flatMap((traceFlags) =>
      [true, false].map((isRemote) => ({traceFlags, isRemote})),
    ),
  )('$traceFlags, remote: $isRemote', (flags) => {
    for (const traceId of traceIds) {
      const parent = trace.setSpanContext(ROOT_CONTEXT, {traceId, spanId: '1'.repeat(16), ...flags});
      const decisions = [0, 1, 500_000, 1_000_000].map((rate) => isSampled(rate, traceId, parent));
      expect(new Set(decisions)).toEqual(new Set([flags.traceFlags === TraceFlags.SAMPLED]));
    }
  });
});
