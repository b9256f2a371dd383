struct Bad {
  1: Missing first
}
