struct A { 1: string a, 2: string b, 3: string c, 4: string d, 5: binary e, 6: string f }
const A SAMPLE = {
  "a": "double \"quotes\" and 'single' ones", "b": 'single \'quotes\' and "double" ones', "c": "tab\t, line\n, return\r, back\\slash"
  "d": "é, 漢字 and 🦀", "e": "raw", "f": ""
}
