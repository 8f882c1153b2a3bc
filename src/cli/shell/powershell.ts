import type { Entry, Flag } from './catalog.ts';

/** PowerShell inserts an offer unquoted, and names of speakers come from others: the script quotes them. */
export function powershell(entries: readonly Entry[]): string {
  return `Register-ArgumentCompleter -Native -CommandName tts -ScriptBlock {
  param($word, $ast, $cursor)
  $commands = [ordered]@{
${entries.map(({ name, help }) => `    ${quotedForPowerShell(name)} = ${quotedForPowerShell(help)}`).join('\n')}
  }
  $options = @{
${entries.map(({ name, flags }) => `    ${quotedForPowerShell(name)} = [ordered]@{ ${flags.map(row).join('; ')} }`).join('\n')}
  }
  $words = @{
${entries.map(({ name, words }) => `    ${quotedForPowerShell(name)} = @(${words.map(quotedForPowerShell).join(', ')})`).join('\n')}
  }
  $names = @{
${entries.map(({ name, names }) => `    ${quotedForPowerShell(name)} = @(${names.map(quotedForPowerShell).join(', ')})`).join('\n')}
  }
  $typed = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  $command = if ($typed.Count -gt 1 -and $commands.Contains($typed[1])) { $typed[1] } else { 'speak' }
  $previous = $typed[-1]
  function Offer($text, $help) {
    $quoted = if ($text -match '^[-\\w.]+$') { $text } else {
      "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'"
    }
    if ($text -like "$word*" -or $quoted -like "$word*") {
      [System.Management.Automation.CompletionResult]::new($quoted, $text, 'ParameterValue', $help)
    }
  }
  if ($previous -cin @(${spellings(entries, 'speaker')})) { tts speakers --names 2>$null | ForEach-Object { Offer $_ $_ }; return }
  if ($previous -cin @(${spellings(entries, 'file')})) { return }
  if ($word -like '-*') { $options[$command].GetEnumerator() | ForEach-Object { Offer $_.Key $_.Value }; return }
  if ($typed.Count -eq 1) { $commands.GetEnumerator() | ForEach-Object { Offer $_.Key $_.Value }; return }
  if ($typed.Count -gt 2 -and $names[$command].Count -gt 0) { $names[$command] | ForEach-Object { Offer $_ $_ }; return }
  $words[$command] | ForEach-Object { Offer $_ $_ }
}`;
}

function row({ long, help }: Flag): string {
  return `${quotedForPowerShell(long)} = ${quotedForPowerShell(help || long)}`;
}

function spellings(entries: readonly Entry[], takes: Flag['takes']): string {
  const flags = entries.flatMap((entry) => entry.flags.filter((flag) => flag.takes === takes));
  const all = flags.flatMap(({ short, long }) => (short === undefined ? [long] : [short, long]));
  return [...new Set(all)].map(quotedForPowerShell).join(', ');
}

function quotedForPowerShell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
