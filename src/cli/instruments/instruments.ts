import type {Values} from '../parse.js';
import type {Instrument, InstrumentedCommand} from './instrument.js';

/** Whether any flag asks for an instrument; what they need is loaded only then. */
export function wantsInstruments(flags: Values): boolean {
  return flags['enable-tracing'] === true || isText(flags['profile-cpu']) || isText(flags['profile-mem']);
}

/** Starts what the flags ask for. Throws UsageError and SystemError. */
export async function startInstruments(
  flags: Values,
  command: InstrumentedCommand,
): Promise<readonly Instrument[]> {
  const instruments: Instrument[] = [];
  if (isText(flags['profile-cpu']) || isText(flags['profile-mem'])) {
    const {startProfiles} = await import('./profile.js');
    const paths = {cpu: text(flags['profile-cpu']), memory: text(flags['profile-mem'])};
    instruments.push(await startProfiles(paths, command));
  }
  if (flags['enable-tracing'] === true) {
    const {startTrace} = await import('./tracing.js');
    instruments.push(
      startTrace(
        {
          endpoint: text(flags['tracing-endpoint']) ?? DEFAULT_TRACING_ENDPOINT,
          perMillion: Number(flags['tracing-sampling-rate-per-million'] ?? -1),
        },
        command,
      ),
    );
  }
  return instruments;
}

/** Where the OpenTelemetry collector listens unless a flag says otherwise. */
const DEFAULT_TRACING_ENDPOINT = '127.0.0.1:4317';

function isText(value: unknown): boolean {
  return text(value) !== undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
