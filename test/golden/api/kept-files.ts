type JsonObject = Readonly<Record<string, unknown>>;

/** Returns state files as JSON, as the recordings have them. */
export function keptFiles(kept: ReadonlyMap<string, string>, replace: (text: string) => string): JsonObject {
  return Object.fromEntries(
    [...kept].map(([name, text]) => {
      const content = JSON.parse(replace(text)) as JsonObject;
      return [name, withoutChecksums(content)];
    }),
  );
}

/** Returns a state file without what depends on UIDs and on encoded answers of plugins. */
function withoutChecksums(content: JsonObject): JsonObject {
  const {Data: data} = content as {
    readonly Data?: {readonly PodDeviceEntries: readonly object[] | null} | string;
  };
  const replaced = {AllocResp: '<ContainerAllocateResponse>'};
  return {
    ...content,
    ...('checksum' in content && {checksum: '<CHECKSUM>'}),
    ...('Checksum' in content && {Checksum: '<CHECKSUM>'}),
    ...(typeof data === 'object' && {
      Data: {
        ...data,
        PodDeviceEntries: data.PodDeviceEntries?.map((entry) => ({...entry, ...replaced})) ?? null,
      },
    }),
  };
}

/** Returns a state file with `<N>` for each size for which the recording has it: it belongs to the machine. */
export function withoutSizes(actual: unknown, recorded: unknown): unknown {
  if (recorded === '<N>' && typeof actual === 'number') return recorded;
  if (Array.isArray(actual))
    return actual.map((item, index) =>
      withoutSizes(item, Array.isArray(recorded) ? recorded[index] : undefined),
    );
  if (typeof actual !== 'object' || actual === null) return actual;
  const other = (typeof recorded === 'object' && recorded !== null ? recorded : {}) as JsonObject;
  return Object.fromEntries(
    Object.entries(actual).map(([key, value]) => [key, withoutSizes(value, other[key])]),
  );
}
