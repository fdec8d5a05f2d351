import {anySignal} from '../../base/async/any-signal.js';
import {TemplateError} from '../../format/template-error.js';
import type {EventsStrategy} from './show-events.js';
import {formatMessage, parseOutputFormat} from '../../cli/output/parse-output-format.js';

/** Events as in crictl: all runtime events until the stream ends, always machine-readable. */
export const CRICTL_EVENTS: EventsStrategy = {
  parseForm: async (services, flags) => await parseOutputFormat(flags, ['json', 'yaml'], services),
  show: async ({out, signal: interrupted}, runtime, form) => {
    using either = anySignal(interrupted, out.stdout.closed);
    const {signal} = either;
    try {
      for await (const event of runtime.getContainerEvents({}, {signal})) {
        if (form.kind === 'table') continue;
        const text = formatMessage(form, 'ContainerEventResponse', event);
        out.printData(
          await text.catch((error: unknown) => {
            // crictl writes the error as data.
            if (error instanceof TemplateError)
              return `failed to format container event with the error: ${error.message}\n`;
            throw error;
          }),
        );
        await out.stdout.ready(signal);
      }
    } catch (error) {
      if (!out.stdout.closed.aborted) throw error;
    }
  },
  showRecorded: async () => {
    await Promise.resolve();
  },
};
