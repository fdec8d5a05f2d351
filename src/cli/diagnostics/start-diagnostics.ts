import type {ParsedValues} from '../parsing/parse-values.js';
import type {Diagnostic, DiagnosedCommand} from './diagnostic.js';

/** Reports whether any flag requires diagnostics, whose modules load only then. */
export function hasDiagnosticFlags(flags: ParsedValues): boolean {
  return flags['enable-tracing'] === true || isText(flags['profile-cpu']) || isText(flags['profile-mem']);
}

/** Starts the diagnostics that the flags request. Rejects with UsageError or SystemError. */
export async function startDiagnostics(
  flags: ParsedValues,
  command: DiagnosedCommand,
): Promise<readonly Diagnostic[]> {
  const instruments: Diagnostic[] = [];
  if (isText(flags['profile-cpu']) || isText(flags['profile-mem'])) {
    const {startProfiles} = await import('./v8-profiles.js');
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

/** Default endpoint of the OpenTelemetry collector. */
const DEFAULT_TRACING_ENDPOINT = '127.0.0.1:4317';

function isText(value: unknown): boolean {
  return text(value) !== undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
