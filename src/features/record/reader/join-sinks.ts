import type {CallSink} from '../../../recording/tap/connection-tap.js';

/** Returns a sink that passes calls to two. */
export function joinSinks(first: CallSink, second: CallSink): CallSink {
  return {
    onStart: (call) => {
      first.onStart(call);
      second.onStart(call);
    },
    onMessage: (call, from, message) => {
      first.onMessage(call, from, message);
      second.onMessage(call, from, message);
    },
    onEnd: (call, end) => {
      first.onEnd(call, end);
      second.onEnd(call, end);
    },
  };
}
