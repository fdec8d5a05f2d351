import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  SamplingDecision,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';

const MILLION = 1_000_000;
/** First hexadecimal digit of the part of a trace ID that decides: its last eight bytes. */
const DECIDING_FROM = 16;

/**
 * Returns the sampler of a number of traces per million; a span with a parent is sampled if the parent is. It decides by the trace
 * ID as Go's SDK (ParentBased, TraceIDRatioBased) and not as that of Node.js: kubelets and runtimes with the same rate, or a higher
 * one, also sample the traces that it samples.
 */
export function traceSampler(perMillion: number): Sampler {
  return new ParentBasedSampler({root: rootSampler(perMillion)});
}

function rootSampler(perMillion: number): Sampler {
  if (perMillion >= MILLION) return new AlwaysOnSampler();
  if (perMillion <= 0) return new AlwaysOffSampler();
  const bound = BigInt(Math.trunc((perMillion / MILLION) * 2 ** 63));
  return {
    shouldSample: (_context, traceId) => {
      const isSampled = BigInt(`0x${traceId.slice(DECIDING_FROM)}`) >> 1n < bound;
      return {decision: isSampled ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD};
    },
    toString: () => `TraceIDRatioBased{${perMillion / MILLION}}`,
  };
}
