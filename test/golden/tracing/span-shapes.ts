import type {ReceivedSpan} from '../../cli/diagnostics/otlp-receiver.js';

const KINDS = ['unspecified', 'internal', 'server', 'client'];

/**
 * Returns what is alike in the spans of all runs of a kubelet, each form once: scope, kind, name, name of the parent, names of the
 * attributes, status, and whether there is an exception. Events of messages, which have the lengths of gRPC's messages, are
 * left out.
 */
export function shapesOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const names = new Map(spans.map(({spanId, name}) => [spanId, name]));
  const shapes = spans.map((span) => {
    const {scope, kind, name, parentSpanId, attributes, failed, exceptions} = span;
    const parent = parentSpanId === '' ? 'none' : (names.get(parentSpanId) ?? 'unknown');
    const status = `${failed ? 'error' : 'unset'}${exceptions.length > 0 ? ' with exception' : ''}`;
    const keys = Object.keys(attributes).toSorted().join(' ');
    return [scope, KINDS[kind] ?? kind, JSON.stringify(name), `in ${parent}`, status, keys].join(' | ');
  });
  return [...new Set(shapes)].toSorted();
}
