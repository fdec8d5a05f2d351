// Formats the results as text.

/** Returns the tools, the runtime and the load of the machine. */
export function heading(version, tools, [load]) {
  const names = tools.map(({name}) => name).join(', ');
  return `\ncontainerd ${version}: ${names}; load ${load.toFixed(1)}\n`;
}

/** Returns the medians of one measurement, and kcri's ratio to each other tool. */
export function comparison(name, samples, targets) {
  const medians = new Map([...samples].map(([tool, list]) => [tool, medianOf(list)]));
  const kcri = medians.get('kcri');
  const lines = [...medians].map(([tool, median]) => {
    const ratios = tool === 'kcri' ? '' : ratiosText(kcri, median, tool === 'crictl' ? targets : {});
    return `  ${(tool === 'kcri' ? name : '').padEnd(18)}${tool.padEnd(8)}${valuesText(median).padEnd(34)}${ratios}`;
  });
  return `${lines.join('\n').replaceAll(/ +$/gm, '')}\n`;
}

function medianOf(list) {
  const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  return Object.fromEntries(Object.keys(list[0]).map((key) => [key, median(list.map((one) => one[key]))]));
}

function valuesText({rate, seconds, cpuSeconds}) {
  const speed = rate === undefined ? `${seconds.toFixed(2)} s` : `${rate.toFixed(0)} MiB/s`;
  return `${speed}, ${cpuSeconds.toFixed(2)} s CPU`;
}

/** Returns kcri ÷ the other tool, with missed targets marked. */
function ratiosText(kcri, other, targets) {
  const shown = [
    kcri.rate === undefined
      ? ratio('time', kcri.seconds / other.seconds, targets.time, (value, target) => value <= target)
      : ratio('rate', kcri.rate / other.rate, targets.rate, (value, target) => value >= target),
    ...(other.cpuSeconds === 0
      ? []
      : [ratio('CPU', kcri.cpuSeconds / other.cpuSeconds, targets.cpu, (value, target) => value <= target)]),
  ];
  return `kcri: ${shown.join(', ')}`;
}

function ratio(name, value, target, isReached) {
  const targetText =
    target === undefined
      ? ''
      : isReached(value, target)
        ? ` (target ${target})`
        : ` (MISSED: target ${target})`;
  return `${name} ×${value.toFixed(2)}${targetText}`;
}
