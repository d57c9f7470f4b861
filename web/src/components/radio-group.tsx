/** A row of radio buttons. */
import { useId } from 'preact/hooks';
import '../style/forms.css';

interface Props<T extends string | number> {
  legend: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChoose: (value: T) => void;
}

export function RadioGroup<T extends string | number>({ legend, value, options, onChoose }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="radio-group">
      <legend>{legend}</legend>
      <div class="radio-options">
        {options.map(([option, label]) => (
          <label key={option}>
            <input type="radio" name={name} checked={option === value} onChange={() => onChoose(option)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
