// What the measurements come to, in lines.

/** Who is measured on what, and how busy the machine is with other things. */
export function heading(version, tools, [load]) {
  const names = tools.map(({name}) => name).join(', ');
  return `\ncontainerd ${version}: ${names}; load ${load.toFixed(1)}\n`;
}

/** The medians of one measure and kcri's part of each other tool's. */
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
  return `${speed}, ${cpuSeconds.toFixed(2)} s of processor`;
}

/** kcri ÷ the other tool; a target that is missed is marked. */
function ratiosText(kcri, other, targets) {
  const shown = [
    kcri.rate === undefined
      ? ratio('time', kcri.seconds / other.seconds, targets.time, (value, target) => value <= target)
      : ratio('rate', kcri.rate / other.rate, targets.rate, (value, target) => value >= target),
    ...(other.cpuSeconds === 0
      ? []
      : [
          ratio(
            'processor',
            kcri.cpuSeconds / other.cpuSeconds,
            targets.cpu,
            (value, target) => value <= target,
          ),
        ]),
  ];
  return `kcri: ${shown.join(', ')}`;
}

function ratio(name, value, target, reached) {
  const wanted =
    target === undefined
      ? ''
      : reached(value, target)
        ? ` (wanted ${target})`
        : ` (MISSED: wanted ${target})`;
  return `${name} ×${value.toFixed(2)}${wanted}`;
}
